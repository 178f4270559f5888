// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT16;

import io.kiln.base.DType;
import io.kiln.kernels.convolution.Jtedsp_int16Generated;
import io.kiln.kernels.convolution.Jtedsp_int16_bytesGenerated;
import io.kiln.kernels.convolution.Jtedsp_int16_tapsGenerated;
import io.kiln.kernels.convolution.Jteint16_dotGenerated;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.InstructionSets;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
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
        permits DotKernel.DspInt16Kernel,
                DotKernel.DspByteKernel,
                MveInt16Kernel,
                MveFloatKernel,
                DotKernel.PlainDotKernel {
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

    /**
     * Dot products of one or two runs of int16 with the weights of three channels, widened to int16, two taps in a word, by {@code SMLAD}:
     * {@code convolution/dsp_int16} or in assembly {@code convolution/dsp_int16_taps}.
     *
     * @param unroll steps of two taps in the loop of the kernel in assembly; 0 for the kernel in C
     * @param isMultiple whether the weights of a step in assembly are loaded together
     */
    record DspInt16Kernel(int unroll, boolean isMultiple) implements DotKernel {
        /** The kernel in C, whose instructions the compiler puts in order. */
        static final DspInt16Kernel COMPILED = new DspInt16Kernel(0, false);

        private static final String UNROLL_KNOB = "unroll";
        private static final String MULTIPLE = "multiple_loads";

        private static final int CHANNELS = 3;
        private static final int UNROLL = 8;

        @Override
        public String title() {
            return "dsp_conv16";
        }

        @Override
        public String reason() {
            return "two products in one instruction; what is summed in 32 bits is proven to fit";
        }

        @Override
        public int pixels() {
            return 2;
        }

        @Override
        public int channels() {
            return CHANNELS;
        }

        @Override
        public int step() {
            return 2;
        }

        @Override
        public List<Knob> knobs() {
            return List.of(Knob.unusual(UNROLL_KNOB, UNROLL, 16, 32), Knob.flag(MULTIPLE, false, true));
        }

        @Override
        public Configuration usual(Configuration settings) {
            return settings.with(UNROLL_KNOB, UNROLL);
        }

        @Override
        public boolean isKernel(Configuration configuration) {
            return !configuration.isOn(MULTIPLE) || configuration.number(UNROLL_KNOB, 0) > 0;
        }

        @Override
        public DotKernel with(Configuration configuration) {
            return new DspInt16Kernel(configuration.number(UNROLL_KNOB, 0), configuration.isOn(MULTIPLE));
        }

        @Override
        public void put(ByteBuffer table, double weight) {
            table.putShort((short) weight);
        }

        @Override
        public int weightBytes() {
            return Short.BYTES;
        }

        @Override
        public void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Expr taps) {
            int count = Math.toIntExact(((Expr.IntImm) taps).value());
            if (unroll > 0) {
                DotKernel.call(block, kernel(inputs.size(), count), inputs, weights, sums);
                return;
            }
            boolean isOdd = count % 2 == 1;
            Expr pairs = Exprs.div(taps, Exprs.imm(2));
            DotKernel.call(block, kernel(inputs.size(), isOdd), inputs, weights, sums, pairs);
        }

        /** The kernel in assembly for this many pixels and taps: up to twice as many steps of two taps as a loop has need none. */
        private Kernel kernel(int pixels, int taps) {
            String name = "kiln_dot16_" + taps + "_" + pixels + "x" + CHANNELS
                    + (taps / 2 <= 2 * unroll ? "" : "_unroll" + unroll)
                    + (isMultiple ? "_multiple" : "");
            return kernel(
                    name,
                    INT16,
                    pixels,
                    0,
                    (out, html) ->
                            Jtedsp_int16_tapsGenerated.render(out, html, name, pixels, taps, unroll, isMultiple));
        }

        /** The kernel in C for this many pixels; its number is that of pairs of taps. */
        private Kernel kernel(int pixels, boolean isOdd) {
            String name = "kiln_dot16_" + pixels + "x" + CHANNELS + (isOdd ? "_odd" : "");
            return kernel(
                    name,
                    INT16,
                    pixels,
                    1,
                    (out, html) -> Jtedsp_int16Generated.render(out, html, name, pixels, isOdd, UNROLL),
                    Intrinsics.SMLAD);
        }
    }

    /**
     * The kernel {@code convolution/dsp_int16_bytes}: dot products of one or two runs of int16 with the int8 weights of up to four channels, by {@code SMLAD}.
     *
     * @param distance bytes from the first pixel's inputs to the second's
     * @param valid number of channels that exist
     */
    record DspByteKernel(int distance, int valid) implements DotKernel {

        private static final int CHANNELS = 4;
        private static final int PIXELS = 2;
        private static final int TAPS = 2;
        private static final int UNROLL = 2;

        /** The kernel for a layer whose weights have no zero point. */
        static DotKernel of(ConvComputation conv) {
            int distance = Short.BYTES * conv.window().strideW() * conv.channelsPerGroup();
            return new DspByteKernel(distance, Math.min(CHANNELS, conv.channels()));
        }

        @Override
        public String title() {
            return "dsp_conv16_bytes";
        }

        @Override
        public String reason() {
            return "two products in one instruction; weights stay bytes; what is summed in 32 bits is proven to fit";
        }

        /** An immediate offset has to reach from a run to the next one. */
        @Override
        public int pixels() {
            return distance + TAPS * Short.BYTES * UNROLL > InstructionSets.LOAD_REACH ? 1 : PIXELS;
        }

        @Override
        public int channels() {
            return CHANNELS;
        }

        @Override
        public int step() {
            return TAPS;
        }

        @Override
        public boolean hasCommonResults() {
            return true;
        }

        /** Bytes 0 and 2 of a word are two taps of a channel, bytes 1 and 3 those of the next. */
        @Override
        public int weightAt(int place) {
            int channel = place / 4 * 2 + place % 2;
            return channel * TAPS + place % 4 / 2;
        }

        @Override
        public DotKernel of(int channels) {
            return new DspByteKernel(distance, channels);
        }

        @Override
        public void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Expr taps) {
            boolean isOdd = ((Expr.IntImm) taps).value() % TAPS != 0;
            Expr pairs = Exprs.div(taps, Exprs.imm(TAPS));
            DotKernel.call(block, kernel(inputs.size(), isOdd), inputs, weights, sums, pairs);
        }

        /** Its number is that of pairs of taps. */
        private Kernel kernel(int pixels, boolean isOdd) {
            String name = "kiln_dot16_bytes_" + pixels + "x" + valid
                    + (pixels > 1 ? "_apart" + distance / Short.BYTES : "")
                    + (isOdd ? "_odd" : "");
            List<String> parameters =
                    DotKernel.parameters(pixels, "const int32_t* w", "int32_t* sums", "int32_t pairs");
            return kernel(
                    name,
                    INT16,
                    pixels,
                    1,
                    (out, html) -> Jtedsp_int16_bytesGenerated.render(
                            out, html, name, pixels, valid, distance, UNROLL, isOdd, parameters));
        }
    }

    /**
     * Dot products of one or two runs of int16 with the int8 weights of up to four channels, for cores without SIMD: an input is loaded once
     * for four products, a weight once for two. In assembly, so that all compilers give the same loop.
     *
     * <pre>
     * weights: a tap's of four channels in a word
     * </pre>
     *
     * @param core for which it is written
     * @param distance bytes from a run to the next one
     * @param valid number of channels that exist
     * @param isSmall whether its code is small rather than fast
     */
    record PlainDotKernel(Core core, int distance, int valid, boolean isSmall) implements DotKernel {
        /** Channels of a block. */
        static final int CHANNELS = 4;

        private static final int PIXELS = 2;

        /** Largest distance that immediate offsets of Armv7-M reach. */
        private static final int MOST_DISTANCE = InstructionSets.LOAD_REACH - Short.BYTES * Core.ARMV7_M.unroll;

        /** Cores without SIMD. */
        public enum Core {
            ARMV7_M(InstructionSets.THUMB_2, 8),
            ARMV6_M(InstructionSets.THUMB_1, 4),
            RV32(InstructionSets.RV32_MUL, 4);

            private final String condition;
            private final int unroll;

            /** @param unroll taps in the loop for speed */
            Core(String condition, int unroll) {
                this.condition = condition;
                this.unroll = unroll;
            }

            /** Preprocessor condition of its instructions. */
            public String condition() {
                return condition;
            }

            /** The core's; empty where there are no kernels. */
            private static Optional<Core> of(CpuFeatures features) {
                return switch (features.family()) {
                    case CORTEX_M -> Optional.of(features.hasLongMultiply() ? ARMV7_M : ARMV6_M);
                    case RISCV ->
                        features.bits() == Integer.SIZE && features.hasLongMultiply()
                                ? Optional.of(RV32)
                                : Optional.empty();
                    default -> Optional.empty();
                };
            }
        }

        /** The core's kernel for a layer of int16 data; empty if it has none, or if weights do not fit 8 bits without their zero point. */
        static Optional<DotKernel> of(Workload workload) {
            ConvComputation conv = workload.conv();
            int distance = Short.BYTES * conv.window().strideW() * conv.channelsPerGroup();
            return Core.of(workload.features())
                    .filter(core -> conv.kernelZeroPoint() == 0)
                    .<DotKernel>map(core -> new PlainDotKernel(
                            core, distance, Math.min(CHANNELS, conv.channels()), workload.isForSize()));
        }

        @Override
        public String title() {
            return "conv16";
        }

        @Override
        public String reason() {
            return isSmall
                    ? "blocks of pixels and channels share loads; weights stay bytes; what is summed in 32 bits is"
                            + " proven to fit"
                    : "no SIMD: blocks of pixels and channels share loads; what is summed in 32 bits is proven to fit";
        }

        /** On Armv7-M, an immediate offset has to reach from a run to the next one. */
        @Override
        public int pixels() {
            return core == Core.ARMV7_M && distance > MOST_DISTANCE ? 1 : PIXELS;
        }

        @Override
        public int channels() {
            return CHANNELS;
        }

        @Override
        public boolean hasCommonResults() {
            return true;
        }

        @Override
        public DotKernel of(int channels) {
            return new PlainDotKernel(core, distance, channels, isSmall);
        }

        @Override
        public void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Expr taps) {
            DotKernel.call(block, kernel(inputs.size()), inputs, weights, sums, taps);
        }

        private Kernel kernel(int pixels) {
            boolean isApart = core == Core.ARMV7_M && pixels > 1;
            String name = "kiln_dot16_" + pixels + "x" + valid + (isApart ? "_apart" + distance / Short.BYTES : "")
                    + (isSmall ? "_small" : "");
            List<String> parameters = DotKernel.parameters(pixels, "const int32_t* w", "int32_t* sums", "int32_t taps");
            return kernel(
                    name,
                    INT16,
                    pixels,
                    1,
                    (out, html) -> Jteint16_dotGenerated.render(out, html, name, this, pixels, parameters));
        }

        /** Taps in the loop. */
        public int unroll() {
            return isSmall ? core.unroll / 2 : core.unroll;
        }
    }
}
