// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.type;

import io.kiln.base.DType;

/** Static type of a value: shape and element type. */
public record TensorType(Shape shape, DType dtype) {
    /** Bytes of the largest tensor of a model: no microcontroller holds more, and indices of elements stay far from overflow. */
    public static final long MAX_BYTES = 1L << 28;

    /** Result type of an operator that only changes variables: no elements, no bytes. */
    public static final TensorType UNIT = new TensorType(Shape.of(0), DType.BOOL);

    /** Size in bytes of a dense row-major tensor. */
    public long bytes() {
        return Math.multiplyExact(shape.elements(), dtype.bytes());
    }

    /** Whether a dense tensor has more bytes than a limit of at most 2^31; counts without overflow. */
    public boolean isLargerThan(long limit) {
        long bytes = dtype.bytes();
        for (int dim : shape.dims()) {
            bytes *= dim;
            if (bytes > limit) {
                return true;
            }
        }
        return false;
    }

    /** Relay's form, such as {@code Tensor[(1, 12), int8]}. */
    public String text() {
        return shape.rank() == 0 ? dtype.text() : "Tensor[" + shape.text() + ", " + dtype.text() + "]";
    }
}
