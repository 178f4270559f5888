// SPDX-License-Identifier: Apache-2.0
/** Operators that copy elements without arithmetic. */
package io.kiln.ir.op.movement;
