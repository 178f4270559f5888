// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.type;

import io.kiln.base.DType;

/** Static type of a value: shape and element type. */
public record TensorType(Shape shape, DType dtype) {
    /** Size in bytes of a dense row-major tensor. */
    public long bytes() {
        return Math.multiplyExact(shape.elements(), dtype.bytes());
    }

    /** Relay's form, such as {@code Tensor[(1, 12), int8]}. */
    public String text() {
        return shape.rank() == 0 ? dtype.text() : "Tensor[" + shape.text() + ", " + dtype.text() + "]";
    }
}
