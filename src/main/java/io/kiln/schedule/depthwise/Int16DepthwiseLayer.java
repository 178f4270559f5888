// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.base.DType;
import io.kiln.lower.Int16Requantize;
import io.kiln.lower.Limits;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapSums;
import io.kiln.schedule.parts.WindowRows;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What is proven of a depthwise layer of int16 data: every sum fits 32 bits with its bias, and a result is the upper half of
 * the sum times a multiplier, rounded, within limits.
 *
 * @param biases of each channel
 * @param multipliers of each channel
 * @param limits of the results
 */
record Int16DepthwiseLayer(List<Integer> biases, List<Integer> multipliers, Limits limits) {
    /** Of more channels, the pixels of a tile are too far apart in the output for the immediate offset of a store. */
    private static final int MOST_CHANNELS = 400;

    /** Columns of a window, which kernels have unrolled. */
    private static final int MOST_COLUMNS = 15;

    Int16DepthwiseLayer {
        biases = List.copyOf(biases);
        multipliers = List.copyOf(multipliers);
    }

    /** Whether a result may be less than the whole range of int16. */
    boolean isLimited() {
        return limits.low() != Short.MIN_VALUE || limits.high() != Short.MAX_VALUE;
    }

    /** The proof for a layer; empty if it is of another kind, or its sums may leave 32 bits, or its shape is left to plain loops. */
    static Optional<Int16DepthwiseLayer> of(ConvComputation conv) {
        return suits(conv) ? proven(conv) : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        return conv.depthwise()
                && !conv.isTransposed()
                && conv.dataType() == DType.INT16
                && conv.channels() == conv.input().dim(3)
                && conv.channels() <= MOST_CHANNELS
                && conv.window().kernelW() <= MOST_COLUMNS
                && conv.inputZeroPoint() == 0
                && conv.kernelZeroPoint() == 0
                && WindowRows.areInside(conv);
    }

    private static Optional<Int16DepthwiseLayer> proven(ConvComputation conv) {
        List<TapSums> sums = TapSums.of(conv);
        List<Long> biases = new ArrayList<>();
        long bound = 0;
        for (int o = 0; o < conv.channels(); o++) {
            int channel = o;
            long bias = conv.op().bias().map(b -> b.integer(channel)).orElse(0L);
            biases.add(bias);
            bound = Math.max(
                    bound, Math.abs(bias) - Short.MIN_VALUE * sums.get(o).magnitude());
        }
        Limits limits = Limits.of(conv.op());
        return Int16Requantize.high(conv.op(), conv.channels(), bound)
                .map(multipliers -> new Int16DepthwiseLayer(
                        biases.stream().map(Long::intValue).toList(), multipliers, limits));
    }
}
