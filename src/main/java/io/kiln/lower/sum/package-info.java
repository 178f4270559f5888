// SPDX-License-Identifier: Apache-2.0
/** Lowering of reductions and sums. */
package io.kiln.lower.sum;
