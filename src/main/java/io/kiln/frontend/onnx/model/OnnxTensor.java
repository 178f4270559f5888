// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.model;

import io.kiln.base.Bytes;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;

/**
 * A tensor stored in the file.
 *
 * @param name its name; empty in attributes
 * @param type element type in the file
 * @param shape its dimensions
 * @param data elements in the type in which the IR holds them, row-major, little-endian
 */
public record OnnxTensor(String name, ElementType type, Shape shape, Bytes data) {
    /** The tensor as a constant of the IR. */
    public Constant constant() {
        return new Constant(name, new TensorType(shape, type.held().orElseThrow()), data);
    }
}
