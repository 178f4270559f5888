// SPDX-License-Identifier: Apache-2.0
/** Schedules for the single-precision floating-point unit of Armv7E-M and Armv8-M. */
package io.kiln.schedule.fpu;
