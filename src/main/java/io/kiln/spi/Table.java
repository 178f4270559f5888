// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * A constant that a generated function gets as a parameter.
 *
 * @param name of the parameter, a C name without its last underscore, such as {@code filter}
 * @param type type of the elements
 * @param data the elements, little-endian
 */
public record Table(String name, ElementType type, ByteBuffer data) {
    /** Copies the elements from the buffer's position to its limit. */
    public Table {
        ByteBuffer copy = ByteBuffer.allocate(data.remaining());
        copy.put(data.duplicate()).flip();
        data = copy.asReadOnlyBuffer();
    }

    /**
     * A table of int32.
     *
     * @param name of the parameter
     * @param values the elements
     * @return the table
     */
    public static Table ofInts(String name, List<Integer> values) {
        ByteBuffer data = ByteBuffer.allocate(Integer.BYTES * values.size()).order(ByteOrder.LITTLE_ENDIAN);
        values.forEach(data::putInt);
        return new Table(name, ElementType.INT32, data.flip());
    }

    /**
     * A table of a model's constant.
     *
     * @param name of the parameter
     * @param constant a tensor that is constant
     * @return the table
     */
    public static Table of(String name, Tensor constant) {
        return new Table(name, constant.type(), constant.data());
    }

    /** The elements, read-only, positioned at 0. */
    @Override
    public ByteBuffer data() {
        return data.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }
}
