// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.model;

import io.kiln.base.Bytes;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteOrder;

/**
 * A tensor stored in the file.
 *
 * @param name its name; empty in attributes
 * @param type element type in the file
 * @param shape its dimensions
 * @param data elements in the type in which the IR holds them, row-major, little-endian
 * @param doubles elements of double with all of their digits, likewise; empty for other types
 */
public record OnnxTensor(String name, ElementType type, Shape shape, Bytes data, Bytes doubles) {
    /** A tensor of which the IR holds all digits. */
    public OnnxTensor(String name, ElementType type, Shape shape, Bytes data) {
        this(name, type, shape, data, Bytes.wrap(new byte[0]));
    }

    /** An element with all digits that the file has. */
    public double real(int index) {
        return type == ElementType.DOUBLE
                ? doubles.buffer().order(ByteOrder.LITTLE_ENDIAN).getDouble(Double.BYTES * index)
                : constant().real(index);
    }

    /** The tensor as a constant of the IR. */
    public Constant constant() {
        return new Constant(name, new TensorType(shape, type.held().orElseThrow()), data);
    }
}
