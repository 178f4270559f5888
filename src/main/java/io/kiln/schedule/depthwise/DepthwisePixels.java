// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.load;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.TapSums;
import io.kiln.schedule.dense.DotWeights;
import io.kiln.schedule.parts.Interior;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The unrolled taps of one channel for neighbouring pixels: an input is loaded once for all windows that contain it, a
 * weight once for all pixels.
 *
 * @param conv the convolution
 * @param inputRows rows under the window of the first pixel, from its first column on
 * @param weights as in the model
 */
record DepthwisePixels(ConvComputation conv, List<Buffer> inputRows, Buffer weights) {
    /** Sums, and the inputs and weights of a row, stay in 32 floating-point registers. */
    private static final int MOST_FLOAT = 8;

    /** Sums stay in 12 general registers, beside pointers. */
    private static final int MOST_INT16 = 4;

    /** Largest number of unrolled taps in a block, to limit code size. */
    private static final int MOST_TAPS = 80;

    /** Instructions of a loop over channels, and of the start and end of a sum. */
    private static final int LOOP = 10;

    private static final int PER_SUM = 8;

    /** Whether pixels may be computed together: of float data where it is multiplied in hardware, of int16 data whose sums fit 32 bits. */
    static boolean areFast(Workload workload) {
        ConvComputation conv = workload.conv();
        return conv.isFloat() ? isFused(workload) : hasRegisters(workload.features()) && fit(conv);
    }

    /** Whether a microcontroller core has registers for several sums: Armv6-M multiplies only in eight registers. */
    private static boolean hasRegisters(CpuFeatures cpu) {
        return cpu.hasLongMultiply()
                && (cpu.family() == CpuFeatures.Family.CORTEX_M || cpu.family() == CpuFeatures.Family.RISCV);
    }

    /** Whether a float multiply and add are one instruction. */
    static boolean isFused(Workload workload) {
        CpuFeatures cpu = workload.features();
        return workload.conv().isFloat() && cpu.family() == CpuFeatures.Family.CORTEX_M && cpu.hasFpu();
    }

    /** The numbers of pixels that can be computed together, from 1 on. */
    static List<Integer> blocks(ConvComputation conv) {
        int taps = conv.window().kernelH() * conv.window().kernelW();
        int interior = Interior.of(conv).size();
        return IntStream.rangeClosed(1, conv.isFloat() ? MOST_FLOAT : MOST_INT16)
                .filter(pixels -> pixels == 1 || (pixels * taps <= MOST_TAPS && pixels <= interior))
                .boxed()
                .toList();
    }

    /** The number of pixels that takes the fewest instructions for a row, roughly; 1 if windows are large. */
    static int best(ConvComputation conv) {
        int interior = Interior.of(conv).size();
        int best = 1;
        for (int pixels : blocks(conv)) {
            best = cost(conv, pixels, interior) <= cost(conv, best, interior) ? pixels : best;
        }
        return best;
    }

    /** Loads, products and the overhead of each sum. */
    private static int cost(ConvComputation conv, int pixels, int interior) {
        Window w = conv.window();
        int taps = w.kernelH() * w.kernelW();
        int columns = Math.min(pixels * w.kernelW(), (pixels - 1) * w.strideW() + w.spanW());
        int block = w.kernelH() * columns + taps * (1 + pixels) + LOOP + pixels * PER_SUM;
        int single = 3 * taps + LOOP + PER_SUM;
        return interior / pixels * block + interior % pixels * single;
    }

    /** Whether the data is int16, sums without bias fit 32 bits, and zero points are 0. */
    static boolean fit(ConvComputation conv) {
        return conv.dataType() == DType.INT16
                && conv.inputZeroPoint() == 0
                && TapSums.of(conv).stream().allMatch(sums -> sums.magnitude() <= DotWeights.MOST_MAGNITUDE);
    }

    /** Adds a product to a pixel's sum. */
    interface Product {
        void emit(int pixel, Expr value, Expr weight);
    }

    /** Emits all products of a channel. */
    void emit(BlockBuilder block, int pixels, Expr c, Expr oc, Product product) {
        Window w = conv.window();
        for (int k = 0; k < w.kernelH(); k++) {
            Map<Integer, Expr> values = new HashMap<>();
            for (int j = 0; j < w.kernelW(); j++) {
                String tap = k + "_" + j;
                Expr weight =
                        block.let("w" + tap, load(weights, add(oc, ((long) k * w.kernelW() + j) * conv.channels())));
                for (int p = 0; p < pixels; p++) {
                    int column = j * w.dilationW() + p * w.strideW();
                    if (!values.containsKey(column)) {
                        Expr place = add(c, (long) column * conv.input().dim(3));
                        values.put(column, block.let("x" + k + "_" + column, load(inputRows.get(k), place)));
                    }
                    product.emit(p, values.get(column), weight);
                }
            }
        }
    }
}
