// SPDX-License-Identifier: Apache-2.0
/**
 * Kernels of operators that compute each element from the corresponding elements of their operands.
 */
package io.kiln.schedule.elementwise;
