// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.nio.ByteBuffer;
import java.util.List;

/** A value in a model. */
public interface Tensor {
    /**
     * Type of its elements.
     *
     * @return the type
     */
    ElementType type();

    /**
     * Its dimensions.
     *
     * @return none for a scalar
     */
    List<Integer> shape();

    /**
     * Whether its elements are known while the model is compiled.
     *
     * @return false for what the model computes, and for its inputs
     */
    boolean isConstant();

    /**
     * The elements of a constant.
     *
     * @return row-major, little-endian, read-only
     * @throws IllegalStateException if it is no constant
     */
    ByteBuffer data();

    /**
     * An element of a constant of integers or truth values.
     *
     * @param index its position, row-major
     * @return its value
     * @throws IllegalStateException if it is no constant
     */
    long integer(int index);

    /**
     * An element of a constant of floats.
     *
     * @param index its position, row-major
     * @return its value
     * @throws IllegalStateException if it is no constant
     */
    float real(int index);

    /**
     * Number of its elements.
     *
     * @return the product of the dimensions
     */
    default int elements() {
        return shape().stream().reduce(1, Math::multiplyExact);
    }
}
