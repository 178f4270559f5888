// SPDX-License-Identifier: Apache-2.0
/** Schedules with explicit knobs, and the choice among them. */
package io.kiln.schedule;
