// SPDX-License-Identifier: Apache-2.0
/** Arithmetic that operators are defined by, shared by the interpreter and the lowering. */
package io.kiln.ir.arith;
