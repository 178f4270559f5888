// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.ir.op.Op;

/** Writes nodes of a family of operators. */
interface NodeWriter {
    /** Writes a node; false, with nothing written, if TensorFlow Lite has no such operator. */
    boolean write(Emission node);

    /** Whether TensorFlow Lite has an operator for this one, whatever its attributes and types are. */
    default boolean knows(Op op) {
        return true;
    }
}
