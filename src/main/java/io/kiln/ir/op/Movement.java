// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

/** An operator whose every element is a copy of an element of an argument, or a constant: nothing is computed. */
public sealed interface Movement extends Op permits Transpose, StridedSlice, Pad, Concatenate, BroadcastTo {}
