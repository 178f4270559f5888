// SPDX-License-Identifier: Apache-2.0
/** Schedules as plain loops, for every core. */
package io.kiln.schedule.direct;
