// SPDX-License-Identifier: Apache-2.0
/** Common parts of schedules: packed weights, rows with padding, rescaling. */
package io.kiln.schedule.parts;
