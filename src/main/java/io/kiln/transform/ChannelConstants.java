// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.Bytes;
import io.kiln.ir.Constant;
import io.kiln.ir.type.TensorType;
import java.util.Arrays;
import java.util.Optional;

/** Float constants with a value for each channel, the last dimension. */
public final class ChannelConstants {
    private ChannelConstants() {}

    /** A function of an element and its index. */
    public interface ElementMap {
        float apply(int index, float element);
    }

    /** The value of each channel of a tensor that a constant is broadcast to; empty if it differs within a channel. */
    static Optional<float[]> of(Constant constant, TensorType type) {
        if (!constant.type().dtype().isFloat() || type.shape().rank() == 0) {
            return Optional.empty();
        }
        int channels = type.shape().dim(-1);
        float[] values = new float[channels];
        if (constant.elements() == 1) {
            Arrays.fill(values, constant.real(0));
            return Optional.of(values);
        }
        if (constant.elements() != channels || constant.type().shape().dim(-1) != channels) {
            return Optional.empty();
        }
        for (int i = 0; i < channels; i++) {
            values[i] = constant.real(i);
        }
        return Optional.of(values);
    }

    static float[] inverse(float[] values) {
        float[] inverse = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            inverse[i] = 1 / values[i];
        }
        return inverse;
    }

    static float[] negative(float[] values) {
        float[] negative = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            negative[i] = -values[i];
        }
        return negative;
    }

    /** A constant of the same type with other elements. */
    public static Constant map(Constant constant, ElementMap map) {
        return new Constant(
                constant.name(),
                constant.type(),
                Bytes.ofReals(constant.elements(), i -> map.apply(i, constant.real(i))));
    }
}
