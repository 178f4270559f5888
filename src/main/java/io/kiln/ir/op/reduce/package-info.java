// SPDX-License-Identifier: Apache-2.0
/** Reductions and sums. */
package io.kiln.ir.op.reduce;
