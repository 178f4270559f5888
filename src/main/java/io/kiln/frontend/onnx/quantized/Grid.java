// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Lookups.TflLookup;
import java.util.Map;
import java.util.function.IntUnaryOperator;

/**
 * Points at which a function of elements is evaluated.
 *
 * @param size number of points
 * @param bytes by tensor, the byte at each point, plus 128
 * @param elements by constant, the place of its element at each point
 */
record Grid(int size, Map<Dequantized, IntUnaryOperator> bytes, Map<Constant, IntUnaryOperator> elements) {
    Grid {
        bytes = Map.copyOf(bytes);
        elements = Map.copyOf(elements);
    }

    /** All bytes of one tensor. */
    static Grid of(Dequantized tensor) {
        return new Grid(TflLookup.SIZE, Map.of(tensor, i -> i), Map.of());
    }

    /** All pairs of bytes of two tensors; those of the right one follow each other. */
    static Grid of(Dequantized left, Dequantized right) {
        return new Grid(
                TflLookup.SIZE * TflLookup.SIZE,
                Map.of(left, i -> i / TflLookup.SIZE, right, i -> i % TflLookup.SIZE),
                Map.of());
    }

    /** The byte of a tensor at each point, plus 128. */
    Constant places(Dequantized tensor) {
        return vector(bytes.get(tensor));
    }

    /** The place of a constant's element at each point. */
    Constant places(Constant constant) {
        return vector(elements.get(constant));
    }

    private Constant vector(IntUnaryOperator value) {
        int[] places = new int[size];
        for (int i = 0; i < size; i++) {
            places[i] = value.applyAsInt(i);
        }
        return Constant.vector(places);
    }
}
