// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.DType;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;

/**
 * A tensor of the file whose shape and type the IR can express.
 *
 * @param index in the subgraph
 * @param name as in the file; {@code tensor_<index>} if it has none
 * @param data the constant's bytes in the file; of size 0 for a computed tensor
 * @param variable whether it keeps its value between runs
 */
record TfliteTensor(
        int index, String name, TensorType type, TensorQuantization quantization, FlatVector data, boolean variable) {
    /** The same tensor with a shape that follows from the inputs' shapes. */
    TfliteTensor withShape(Shape shape) {
        return new TfliteTensor(index, name, new TensorType(shape, dtype()), quantization, data, variable);
    }

    boolean isConstant() {
        return data.size() > 0;
    }

    DType dtype() {
        return type.dtype();
    }

    Shape shape() {
        return type.shape();
    }

    /** As messages show it. */
    String text() {
        return "`" + name + "` " + dtype().text() + " " + shape().text();
    }
}
