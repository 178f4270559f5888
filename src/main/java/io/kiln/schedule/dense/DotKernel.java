// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import io.kiln.base.DType;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet.Template;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A micro-kernel of {@link DotConvSchedule}: adds dot products of some pixels with the weights of a block of channels to sums in memory. */
public sealed interface DotKernel
        permits DspInt16Kernel, DspByteKernel, MveInt16Kernel, MveFloatKernel, PlainDotKernel {
    /** Name of the schedule. */
    String title();

    /** The reason why it is chosen, in words. */
    String reason();

    /** Largest number of pixels computed together. */
    int pixels();

    /** Number of channels computed together. */
    int channels();

    /** The kernel for a block of which only the first channels exist; it may compute the others too. */
    default DotKernel of(int channels) {
        return this;
    }

    /** Number of taps of one channel that are adjacent in the table; a run of taps is padded to a multiple with 0. */
    default int step() {
        return 1;
    }

    /** Knobs of the kernel itself. */
    default List<Knob> knobs() {
        return List.of();
    }

    /** Whether there is a kernel with these values of its {@link #knobs}. */
    default boolean isKernel(Configuration configuration) {
        return true;
    }

    /** The kernel of a configuration. */
    default DotKernel with(Configuration configuration) {
        return this;
    }

    /** Whether {@link DotSums.DotResults} rescales the sums where it can, so that all compilers give about the same code. */
    default boolean hasCommonResults() {
        return false;
    }

    /** The configuration that the rules choose, given the settings of all kernels. */
    default Configuration usual(Configuration settings) {
        return settings;
    }

    /** Type of the sums. */
    default DType sum() {
        return DType.INT32;
    }

    /** Type of the table of weights. */
    default DType table() {
        return DType.INT32;
    }

    /** Appends a weight; also called with 0 beyond the last tap or channel. */
    default void put(ByteBuffer table, double weight) {
        table.put((byte) weight);
    }

    /** Bytes of a weight in the table. */
    default int weightBytes() {
        return Byte.BYTES;
    }

    /** Which weight of a step, counted by channel and then by tap, is at a place of the step in the table. */
    default int weightAt(int place) {
        return place;
    }

    /**
     * Emits a call.
     *
     * @param inputs first tap of each pixel
     * @param weights first weight of the channels; ordered by step of taps, then by channel
     * @param sums sums by pixel, then by channel
     * @param taps number of taps of one dot product; known at build time if {@link #step} is more than 1
     */
    void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Expr taps);

    /**
     * Runs of taps of a window.
     *
     * @param count their number
     * @param taps of a run
     * @param distance elements of the input from the first tap of a run to that of the next
     * @param step likewise from a pixel to the next
     */
    record Runs(int count, int taps, int distance, int step) {
        /** Whether an immediate of an addition reaches from the end of a run to the next. */
        boolean areNear() {
            return Math.abs(distance - taps) < 2000;
        }
    }

    /** Whether a call may compute all runs of a window. */
    default boolean takesWindows() {
        return false;
    }

    /**
     * Emits a call for all runs of a window.
     *
     * @param inputs first tap of each pixel in the first run
     * @param weights first weight of the channels in the first run; those of the next run follow
     */
    default void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Runs runs) {
        throw new UnsupportedOperationException(title());
    }

    /**
     * The kernel that computes all runs of a window from the biases to the outputs, {@code kernel(input, weights, biases, multipliers,
     * output)}, where a result is the upper half of a sum's product with the multiplier of its channel.
     *
     * @param outputs elements from a pixel of the output to the next
     */
    default Optional<Kernel> ending(int pixels, Runs runs, int outputs) {
        return Optional.empty();
    }

    /** Emits a call of a {@link #kernel} for these inputs. */
    static void call(
            BlockBuilder block, Kernel kernel, List<Buffer> inputs, Buffer weights, Buffer sums, Expr... scalars) {
        List<Buffer> pointers =
                Stream.concat(inputs.stream(), Stream.of(weights, sums)).toList();
        block.call(kernel, pointers, List.of(scalars));
    }

    /** C's parameters of a kernel for this many pixels, whose inputs are x0, x1 and so on. */
    static List<String> parameters(int pixels, String... others) {
        return Stream.concat(IntStream.range(0, pixels).mapToObj(p -> "const int16_t* x" + p), Arrays.stream(others))
                .toList();
    }

    /**
     * The kernel for this many pixels: pointers to the inputs of each, to the weights and to the sums, then some int32.
     *
     * @param data type of the inputs
     */
    default Kernel kernel(String name, DType data, int pixels, int scalars, Template definition, Intrinsic... uses) {
        Stream<Pointer> inputs = Stream.generate(() -> Pointer.in(data)).limit(pixels);
        return Kernel.of(
                name,
                Stream.concat(inputs, Stream.of(Pointer.in(table()), Pointer.out(sum())))
                        .toList(),
                scalars,
                definition,
                uses);
    }

    /** The core's kernels for a layer, the best first. */
    static List<DotKernel> of(Workload workload) {
        ConvComputation conv = workload.conv();
        CpuFeatures features = workload.features();
        boolean isInt16 = conv.dataType() == DType.INT16;
        if (conv.depthwise() || conv.groups() != 1 || (conv.isTransposed() && !isInt16)) {
            return List.of();
        }
        if (isInt16) {
            return ofInt16(workload);
        }
        boolean isFloat = conv.isFloat() && conv.weight().type().dtype().isFloat();
        return isFloat && features.hasMve() && features.hasFpu() ? List.of(MveFloatKernel.of(conv)) : List.of();
    }

    /** For size, weights stay bytes. */
    private static List<DotKernel> ofInt16(Workload workload) {
        CpuFeatures features = workload.features();
        if (features.hasMve() && MveInt16Kernel.suits(workload.conv())) {
            return workload.isForSize()
                    ? List.of(MveInt16Kernel.SMALL)
                    : List.of(MveInt16Kernel.FAST, DspInt16Kernel.COMPILED);
        }
        if (features.hasDsp() && workload.conv().kernelZeroPoint() == 0) {
            DotKernel bytes = DspByteKernel.of(workload.conv());
            return workload.isForSize() ? List.of(bytes) : List.of(DspInt16Kernel.COMPILED, bytes);
        }
        return features.hasDsp() && !workload.isForSize()
                ? List.of(DspInt16Kernel.COMPILED)
                : PlainDotKernel.of(workload).stream().toList();
    }
}
