// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.kernel;

import io.kiln.ir.type.Shape;

/**
 * Maps an element of a row-major tensor to its channel.
 *
 * @param inner number of elements after the channel axis
 * @param count number of channels
 */
public record Channels(int inner, int count) {
    /** Channels along an axis; negative counts from the end. */
    public static Channels of(Shape shape, int axis) {
        if (shape.rank() == 0) {
            return new Channels(1, 1);
        }
        int inner = 1;
        for (int i = (axis < 0 ? axis + shape.rank() : axis) + 1; i < shape.rank(); i++) {
            inner *= shape.dim(i);
        }
        return new Channels(inner, shape.dim(axis));
    }

    public int of(int index) {
        return index / inner % count;
    }
}
