// SPDX-License-Identifier: Apache-2.0
/** Kernels of reductions and sums. */
package io.kiln.reference.sum;
