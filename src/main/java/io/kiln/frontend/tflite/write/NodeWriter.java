// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

/** Writes nodes of a family of operators. */
interface NodeWriter {
    /** Writes a node; false, with nothing written, if TensorFlow Lite has no such operator. */
    boolean write(Emission node);
}
