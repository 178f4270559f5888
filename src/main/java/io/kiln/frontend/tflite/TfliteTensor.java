// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Optional;

/**
 * A tensor of the file whose shape and type the IR can express.
 *
 * @param index in the subgraph
 * @param name as in the file; {@code tensor_<index>} if it has none
 * @param data the constant's bytes in the file; of size 0 for a computed tensor
 * @param variable whether it keeps its value between runs
 * @param folded what it is, if that followed from constants alone
 */
record TfliteTensor(
        int index,
        String name,
        TensorType type,
        TensorQuantization quantization,
        FlatVector data,
        boolean variable,
        Optional<Constant> folded) {
    /** The same tensor with a shape that follows from the inputs' shapes. */
    TfliteTensor withShape(Shape shape) {
        return new TfliteTensor(index, name, new TensorType(shape, dtype()), quantization, data, variable, folded);
    }

    /** The same tensor, known at build time. */
    TfliteTensor withValue(Constant constant) {
        return new TfliteTensor(index, name, constant.type(), quantization, data, variable, Optional.of(constant));
    }

    /** Whether it is known at build time: from the file, from other constants, or because it has no elements. */
    boolean isConstant() {
        return isStored() || folded.isPresent() || type.shape().elements() == 0;
    }

    /** Whether the file holds its value. */
    boolean isStored() {
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
