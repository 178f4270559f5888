// SPDX-License-Identifier: Apache-2.0
/** What schedules share: packed weights, rows with padding, rescaling. */
package io.kiln.schedule.parts;
