// SPDX-License-Identifier: Apache-2.0
/** Operators that move elements and compute none. */
package io.kiln.ir.op.movement;
