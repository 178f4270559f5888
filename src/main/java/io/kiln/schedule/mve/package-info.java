// SPDX-License-Identifier: Apache-2.0
/** Schedules for the vector extension of ARMv8.1-M (MVE). */
package io.kiln.schedule.mve;
