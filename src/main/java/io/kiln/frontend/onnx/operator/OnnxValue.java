// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import java.util.List;
import java.util.Optional;

/**
 * A value of a model in its own layout.
 *
 * @param arg the value; its elements have the type in which the IR holds those of the model
 * @param type element type in the model
 * @param form how integers compute it, if they do
 * @param labels what its values, or its elements along the last dimension, stand for; empty if nothing says so
 */
public record OnnxValue(Arg arg, ElementType type, Optional<IntegerForm> form, List<String> labels) {
    public OnnxValue {
        labels = List.copyOf(labels);
    }

    /** A value without labels. */
    public OnnxValue(Arg arg, ElementType type, Optional<IntegerForm> form) {
        this(arg, type, form, List.of());
    }

    /** A value without more. */
    public OnnxValue(Arg arg, ElementType type) {
        this(arg, type, Optional.empty());
    }

    /** How a value can be computed in integers, so that a quantized model needs no floats. */
    public sealed interface IntegerForm {
        /**
         * A tensor of uint8 or uint16.
         *
         * @param bytes its elements less half of their range, as int8 or int16
         */
        record Signed(Arg bytes) implements IntegerForm {}

        /**
         * Real numbers that integers stand for.
         *
         * @param integers int8, int16 or int32
         * @param by their scale and zero point
         */
        record Dequantized(Arg integers, ElementQuantization by) implements IntegerForm {}

        /**
         * A constant matrix whose integers have a scale and a zero point for each block of a row or column.
         *
         * @param integers int8
         * @param scales float32, one for each block
         * @param zeroPoints float32, as many
         * @param axis along which blocks lie
         * @param size elements of a block; the last one may have fewer
         */
        record Blocks(Constant integers, Constant scales, Constant zeroPoints, int axis, int size)
                implements IntegerForm {}

        /** Real numbers that can be computed as integers once their quantization is known. */
        non-sealed interface Deferred extends IntegerForm {
            /**
             * Emits the computation.
             *
             * @param to a quantization of bytes, or of 16 bits if {@link #canBeWide}, one for the whole tensor
             * @return the integers as int8 or int16; empty if they cannot be computed in integers
             */
            Optional<Arg> quantized(ElementQuantization to, Limits limits);

            /** Whether results may have 16 bits. */
            default boolean canBeWide() {
                return false;
            }
        }

        /** The range of quantized integers. */
        record Limits(int low, int high) {
            /** All bytes. */
            public static final Limits NONE = new Limits(Byte.MIN_VALUE, Byte.MAX_VALUE);

            /** All integers of 16 bits. */
            public static final Limits WIDE = new Limits(Short.MIN_VALUE, Short.MAX_VALUE);

            /** The range of bytes that are limited to this one first, then to another. */
            public Limits then(Limits other) {
                return new Limits(other.limit(low), other.limit(high));
            }

            private int limit(int value) {
                return Math.max(low, Math.min(high, value));
            }
        }
    }
}
