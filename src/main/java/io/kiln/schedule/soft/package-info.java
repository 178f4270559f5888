// SPDX-License-Identifier: Apache-2.0
/**
 * Schedules of float layers for cores without a floating-point unit: dot products in integers, with the error of a sum of floats at most.
 */
package io.kiln.schedule.soft;
