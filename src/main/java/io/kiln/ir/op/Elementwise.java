// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

/** An operator that computes each element of its result from the elements of its operands at the same place. */
public sealed interface Elementwise extends Op
        permits Unary,
                LeakyRelu,
                Binary,
                QnnBinary,
                Where,
                Cast,
                Full,
                TflLookup,
                TflSigmoid16,
                TflLeakyRelu,
                TflAddN,
                FixedPointMultiply {

    /** How many arguments, the first ones, are tensors that the loops walk; they may broadcast to the result. */
    int operands();
}
