// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.lower.ConvComputation;
import io.kiln.lower.Epilogue;
import io.kiln.lower.Requantization;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Constants by which accumulators of raw int8 inputs become int8 outputs. The input's zero point is folded into the biases, which
 * is exact where padding is the zero point.
 *
 * @param bias bias of each channel minus the zero point times its weights
 * @param requantization multipliers and shifts
 * @param low least result
 * @param high largest result
 * @param bound largest magnitude of an accumulator with its bias
 */
record MveRescale(List<Integer> bias, Requantization requantization, int low, int high, long bound) {

    MveRescale {
        bias = List.copyOf(bias);
    }

    /** The constants of a convolution, or nothing where the vector instructions would not be exact. */
    static Optional<MveRescale> of(ConvComputation conv) {
        if (conv.isFloat()
                || conv.weight().type().dtype() != DType.INT8
                || conv.op().rootTypes().get(0).dtype() != DType.INT8
                || conv.op().type().dtype() != DType.INT8
                || conv.op().requantization().isEmpty()
                || conv.kernelZeroPoint() != 0) {
            return Optional.empty();
        }
        Requantization r = conv.op().requantization().orElseThrow();
        List<Integer> bias = new ArrayList<>();
        long bound = 0;
        for (int o = 0; o < conv.channels(); o++) {
            long folded = conv.op().bias().isPresent()
                    ? conv.op().bias().orElseThrow().integer(o)
                    : 0;
            long magnitude = 0;
            for (int ky = 0; ky < conv.window().kernelH(); ky++) {
                for (int kx = 0; kx < conv.window().kernelW(); kx++) {
                    for (int c = 0; c < conv.channelsPerGroup(); c++) {
                        int tap = conv.tap(o, ky, kx, c);
                        folded -= (long) conv.inputZeroPoint() * tap;
                        magnitude += Math.abs(tap);
                    }
                }
            }
            bias.add((int) folded);
            bound = Math.max(bound, Math.abs(folded) + 128 * magnitude);
        }
        boolean exact = r.inputZeroPoint() == 0 && r.multipliers().stream().allMatch(m -> m >= 0);
        if (!exact || !Epilogue.isFast(r, bound)) {
            return Optional.empty();
        }
        DType dtype = conv.op().type().dtype();
        long low = conv.op().clip().map(c -> (long) Math.ceil(c.min())).orElse(dtype.min());
        long high = conv.op().clip().map(c -> (long) Math.floor(c.max())).orElse(dtype.max());
        return Optional.of(
                new MveRescale(bias, r, (int) Math.max(low, dtype.min()), (int) Math.min(high, dtype.max()), bound));
    }

    /** Whether halves below zero must be rounded away from zero; otherwise the lower limit hides them. */
    boolean hasNegatives() {
        return low < requantization.outputZeroPoint();
    }

    /** Whether narrowing with saturation from 16 to 8 bits does not do as limit. */
    boolean hasLimits() {
        boolean narrow = low == DType.INT8.min() && high == DType.INT8.max();
        for (int o = 0; o < requantization.multipliers().size(); o++) {
            int most = FixedPoint.multiplyByQuantizedMultiplier(
                    (int) bound,
                    requantization.multipliers().get(o),
                    requantization.shifts().get(o));
            narrow &= most + 1 + Math.abs(requantization.outputZeroPoint()) <= Short.MAX_VALUE;
        }
        return !narrow;
    }

    /** Appends biases, multipliers and shifts of a block of channels; those past the last one are zero. */
    void putBlock(ByteBuffer packed, int first, int block) {
        for (int o = first; o < first + block; o++) {
            packed.putInt(o < bias.size() ? bias.get(o) : 0);
        }
        for (int o = first; o < first + block; o++) {
            packed.putInt(
                    o < bias.size() ? requantization.multipliers().get(requantization.isPerChannel() ? o : 0) : 0);
        }
        for (int o = first; o < first + block; o++) {
            packed.putInt(o < bias.size() ? requantization.shifts().get(requantization.isPerChannel() ? o : 0) : -1);
        }
    }
}
