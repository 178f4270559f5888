// SPDX-License-Identifier: Apache-2.0
/** Arithmetic of operators, used by the interpreter and the lowering. */
package io.kiln.ir.arith;
