// SPDX-License-Identifier: Apache-2.0
/**
 * Schedules of dense layers, matrix products and recurrent layers: dot products, {@code Dot} for data of 16 bits and float, and the kernels of each core.
 */
package io.kiln.schedule.dense;
