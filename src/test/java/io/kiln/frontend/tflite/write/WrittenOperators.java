// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.ir.op.Op;

/** Operators that are written as TensorFlow Lite's. */
public final class WrittenOperators {
    private WrittenOperators() {}

    /** Whether an operator is, with ordinary attributes. */
    public static boolean has(Op op) {
        return PlanWriter.knows(op);
    }
}
