// SPDX-License-Identifier: Apache-2.0
/** Schedules with explicit knobs, and the one place that chooses among them. */
package io.kiln.schedule;
