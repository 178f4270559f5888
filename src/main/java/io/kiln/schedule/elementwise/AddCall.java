// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.elementwise;

import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.ir.type.Shape;
import io.kiln.kernels.elementwise.Jtedsp_sum_of_int16Generated;
import io.kiln.kernels.elementwise.Jtemve_sum_of_bytesGenerated;
import io.kiln.kernels.elementwise.Jtemve_sum_of_int16Generated;
import io.kiln.kernels.elementwise.Jteriscv_sum_of_bytesGenerated;
import io.kiln.kernels.elementwise.Jteriscv_sum_of_channelGenerated;
import io.kiln.kernels.elementwise.Jteriscv_sum_of_int16Generated;
import io.kiln.kernels.elementwise.Jtethumb1_sum_of_bytesGenerated;
import io.kiln.kernels.elementwise.Jtethumb1_sum_of_channelGenerated;
import io.kiln.kernels.elementwise.Jtethumb1_sum_of_int16Generated;
import io.kiln.kernels.elementwise.Jtethumb2_sum_of_bytesGenerated;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.Rows;
import io.kiln.lower.element.Int16Add;
import io.kiln.lower.element.ProvenAdd;
import io.kiln.target.CpuFeatures;
import io.kiln.target.CpuFeatures.Family;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * The kernel for a sum on a core, and what it is called with.
 *
 * @param kernel of two sides and the results
 * @param first the operator's argument that is the kernel's first side
 * @param scalars arguments behind the number of elements
 * @param run what a call computes
 * @param schedule name of the schedule
 * @param reason why it was chosen
 */
public record AddCall(Kernel kernel, int first, List<Expr> scalars, Run run, String schedule, String reason) {
    /** Elements of a call. */
    enum Run {
        /** All, or a row. */
        ALL,
        /** The same, but one side is a vector of channels: the kernel takes the numbers of channels and of pixels. */
        PIXELS,
        /** All pixels of a channel: the kernel's second side is a vector of channels. */
        CHANNEL
    }

    /** Fewer channels, or pixels, cost less in loops than by calls. */
    private static final int LEAST_ELEMENTS = 8;

    /** Elements of an iteration with vector instructions. */
    private static final int MVE_LANES = 4;

    public AddCall {
        scalars = List.copyOf(scalars);
    }

    /** The kernel for an operator; empty if there is none. */
    static Optional<AddCall> of(FusedOperator op, CpuFeatures features, Optimize optimize) {
        boolean isWhole = isWhole(op, 0) && isWhole(op, 1);
        Optional<AddCall> bytes =
                isWhole && op.inputs().size() == 2 ? ofBytes(op, features, optimize) : Optional.empty();
        return bytes.or(() -> isWhole || isByPixel(op) ? ofShorts(op, features, optimize, isWhole) : Optional.empty());
    }

    private static Optional<AddCall> ofBytes(FusedOperator op, CpuFeatures features, Optimize optimize) {
        long row = op.type().shape().elements() / Rows.count(op.type().shape());
        return isSupported(features)
                ? ProvenAdd.of(op)
                        .flatMap(sum -> kernel(features, optimize, sum, row)
                                .map(kernel -> new AddCall(
                                        kernel.kernel(),
                                        0,
                                        imms(sum.lhs(), sum.rhs(), sum.offset(), sum.low(), sum.high()),
                                        Run.ALL,
                                        kernel.schedule(),
                                        kernel.reason() + ", tried for all 65,536 pairs")))
                : Optional.empty();
    }

    private static boolean isSupported(CpuFeatures features) {
        return features.hasMve() || features.family() == Family.CORTEX_M || ElementCore.isRv32(features);
    }

    private static Optional<AddKernel> kernel(CpuFeatures features, Optimize optimize, ProvenAdd sum, long elements) {
        if (features.hasMve()) {
            return Optional.of(new AddKernel(ElementCore.MVE, sum, MVE_LANES));
        }
        int block = ElementCore.block(optimize, elements);
        if (ElementCore.isRv32(features)) {
            return Optional.of(new AddKernel(ElementCore.RISCV, sum, block));
        }
        if (features.hasLongMultiply()) {
            return Optional.of(new AddKernel(ElementCore.THUMB2, sum, block));
        }
        return AddKernel.hasLimits(sum)
                ? Optional.empty()
                : Optional.of(new AddKernel(ElementCore.THUMB1, sum, Math.min(block, 4)));
    }

    private static Optional<AddCall> ofShorts(
            FusedOperator op, CpuFeatures features, Optimize optimize, boolean isWhole) {
        return Int16Add.of(op).flatMap(sum -> {
            Run run = isWhole ? Run.ALL : features.hasMve() ? Run.PIXELS : Run.CHANNEL;
            return kernel(op, features, optimize, sum, run)
                    .map(kernel -> new AddCall(
                            kernel.kernel(),
                            sum.exact(),
                            imms(
                                    sum.multiplier(),
                                    sum.outMultiplier(),
                                    sum.limits().low(),
                                    sum.limits().high()),
                            run,
                            kernel.schedule(),
                            kernel.reason()));
        });
    }

    private static Optional<Int16AddKernel> kernel(
            FusedOperator op, CpuFeatures features, Optimize optimize, Int16Add sum, Run run) {
        Shape out = op.type().shape();
        int row = Math.toIntExact(out.elements() / Rows.count(out));
        if (features.hasMve()) {
            Int16AddKernel.Vector vector = run == Run.ALL
                    ? Int16AddKernel.Vector.NONE
                    : isWhole(op, sum.exact()) ? Int16AddKernel.Vector.OTHER : Int16AddKernel.Vector.EXACT;
            return Optional.of(new Int16AddKernel(ElementCore.MVE, sum, vector, 0, MVE_LANES));
        }
        if (run == Run.CHANNEL && !isWhole(op, sum.exact())) {
            return Optional.empty();
        }
        if (ElementCore.isRv32(features) && sum.isSmall()) {
            return Optional.of(
                    run == Run.ALL
                            ? Int16AddKernel.of(ElementCore.RISCV, sum, ElementCore.block(optimize, row))
                            : Int16AddKernel.ofRiscVChannel(
                                    sum, out.dim(-1), ElementCore.block(optimize, row / out.dim(-1))));
        }
        if (sum.hasLimits() || features.family() != Family.CORTEX_M) {
            return Optional.empty();
        }
        if (!features.hasLongMultiply()) {
            return Optional.of(
                    run == Run.ALL
                            ? Int16AddKernel.of(ElementCore.THUMB1, sum, 1)
                            : new Int16AddKernel(ElementCore.THUMB1, sum, Int16AddKernel.Vector.OTHER, out.dim(-1), 1));
        }
        return features.hasDsp() && run == Run.ALL
                ? Optional.of(Int16AddKernel.of(ElementCore.DSP, sum, Math.min(4, ElementCore.block(optimize, row))))
                : Optional.empty();
    }

    private static List<Expr> imms(long... values) {
        return LongStream.of(values).<Expr>mapToObj(Exprs::imm).toList();
    }

    private static boolean isWhole(FusedOperator op, int argument) {
        return op.root().op().operands() == 2
                && op.rootTypes().get(argument).shape().equals(op.type().shape());
    }

    /** Whether one side has the output's shape, and the other one an element for each channel. */
    private static boolean isByPixel(FusedOperator op) {
        return (isWhole(op, 0) && isVector(op, 1)) || (isWhole(op, 1) && isVector(op, 0));
    }

    private static boolean isVector(FusedOperator op, int argument) {
        Shape shape = op.rootTypes().get(argument).shape();
        Shape out = op.type().shape();
        return out.rank() > 0
                && shape.rank() > 0
                && out.dim(-1) >= LEAST_ELEMENTS
                && out.elements() >= (long) LEAST_ELEMENTS * out.dim(-1)
                && shape.elements() == out.dim(-1)
                && shape.dim(-1) == out.dim(-1);
    }

    /**
     * A core's kernel for {@link ProvenAdd}. Its arguments are both sides, the results, their number, and the sum's factors, offset and limits. The
     * sheets are {@code kernels/elementwise/<core>_sum_of_bytes}.
     *
     * @param core any; {@link ElementCore#DSP} is the same as {@link ElementCore#THUMB2}
     * @param sum what it computes, on Armv6-M without limits but those of int8
     * @param block elements of an iteration, of which the number of elements is a multiple; on Armv7-M 1 or an even number; of no meaning for MVE
     */
    public record AddKernel(ElementCore core, ProvenAdd sum, int block) {
        /** C name. */
        public String name() {
            String name = "kiln_" + core.id() + "_sum_" + sum.shift();
            if (core == ElementCore.MVE) {
                return name + (hasLimits(sum) ? "_l" : "");
            }
            long least = DType.INT8.min();
            String limits = hasLimits(sum) ? "_from_" + (sum.low() - least) + "_to_" + (sum.high() - least) : "";
            return name + "_x" + block + limits;
        }

        /** Name of the schedule. */
        String schedule() {
            String unroll = core == ElementCore.MVE ? "" : ", unroll=" + block;
            return core.id() + "_sum(shift=" + sum.shift() + unroll + ")";
        }

        /** Why the schedule was chosen. */
        String reason() {
            return "one multiplication for each side" + (core == ElementCore.MVE ? " (MVE)" : "");
        }

        /** Whether results of a sum have narrower limits than int8. */
        public static boolean hasLimits(ProvenAdd sum) {
            return sum.low() > DType.INT8.min() || sum.high() < DType.INT8.max();
        }

        Kernel kernel() {
            return Kernel.of(
                    name(),
                    Pointer.lastWritten(DType.INT8, DType.INT8, DType.INT8),
                    6,
                    switch (core) {
                        case MVE -> (out, html) -> Jtemve_sum_of_bytesGenerated.render(out, html, this);
                        case RISCV -> (out, html) -> Jteriscv_sum_of_bytesGenerated.render(out, html, this);
                        case DSP, THUMB2 -> (out, html) -> Jtethumb2_sum_of_bytesGenerated.render(out, html, this);
                        case THUMB1 -> (out, html) -> Jtethumb1_sum_of_bytesGenerated.render(out, html, this);
                    });
        }
    }

    /**
     * A core's kernel for {@link Int16Add}. Its arguments are the exact side, the other one, the results, their number, the multipliers of the other side
     * and of the sum, and the limits. The sheets are {@code kernels/elementwise/<core>_sum_of_int16} and {@code <core>_sum_of_channel}.
     *
     * @param core not {@link ElementCore#THUMB2}
     * @param sum what it computes; with DSP instructions and on Armv6-M without limits but those of int16
     * @param vector which side is a vector of channels; on MVE, the kernel then takes the number of pixels behind that of channels, on other cores it
     *     computes a channel, whose other side is one element
     * @param step elements from one of a channel to the next, on cores without MVE
     * @param block elements of an iteration, 1 or an even number, of which the number of elements is a multiple; only for DSP instructions and RISC-V
     */
    public record Int16AddKernel(ElementCore core, Int16Add sum, Vector vector, int step, int block) {
        /** Which side is a vector of channels, the same for every pixel. */
        public enum Vector {
            NONE,
            EXACT,
            OTHER
        }

        /** How far offsets of RISC-V reach. */
        private static final int REACH = 2047;

        /** For sides of the same shape. */
        static Int16AddKernel of(ElementCore core, Int16Add sum, int block) {
            return new Int16AddKernel(core, sum, Vector.NONE, 0, block);
        }

        /** For a channel on RISC-V, with a block of at most this many elements, which divides their number, as far as loads reach. */
        static Int16AddKernel ofRiscVChannel(Int16Add sum, int step, int block) {
            int reached = block;
            while (reached > 1 && Short.BYTES * step * reached > REACH) {
                reached /= 2;
            }
            return new Int16AddKernel(ElementCore.RISCV, sum, Vector.OTHER, step, reached);
        }

        private boolean isChannel() {
            return vector != Vector.NONE && core != ElementCore.MVE;
        }

        private boolean hasBlock() {
            return core == ElementCore.DSP || core == ElementCore.RISCV;
        }

        /** C name. */
        public String name() {
            String operation = sum.subtractsExact() ? "_from" : sum.subtractsOther() ? "_less" : "_plus";
            String pixels = vector == Vector.EXACT ? "_exact_vector" : "_vector";
            return "kiln_" + core.id() + "_sum16" + (hasBlock() ? "_x" + block : "") + operation + "_" + sum.shift()
                    + "_"
                    + sum.outShift()
                    + (sum.hasLimits() ? "_l" : "")
                    + (isChannel() ? "_by_" + step : vector == Vector.NONE ? "" : pixels);
        }

        /** Name of the schedule. */
        String schedule() {
            String unroll = hasBlock() ? ", unroll=" + block : "";
            return core.id() + "_sum16" + (isChannel() ? "_channel" : "") + "(shift=" + sum.outShift() + unroll + ")";
        }

        /** Why the schedule was chosen. */
        String reason() {
            return switch (core) {
                case MVE -> "the reference's two roundings are one instruction each (MVE)";
                case DSP -> "one multiplication rounds";
                case RISCV -> "one multiplication for both roundings";
                case THUMB2, THUMB1 -> "halves of constants stay in registers";
            };
        }

        /** C's expression for the other side's product rounded by its shift; a multiplier of one half makes a product of exactly 2^14 for each unit. */
        public String rounded(String product) {
            int shift = sum.shift();
            return shift == 0
                    ? "(" + product + ")"
                    : "((" + product + " + (1 << " + (shift - 1) + ") + (" + product + " >> 31)) >> " + shift + ")";
        }

        /** C's expression for the exact side and {@code right} added, or subtracted. */
        public String added(String exact) {
            return sum.subtractsExact()
                    ? "(right - " + exact + ")"
                    : "(" + exact + (sum.subtractsOther() ? " - " : " + ") + "right)";
        }

        Kernel kernel() {
            int counts = vector != Vector.NONE && !isChannel() ? 2 : 1;
            return new Kernel(
                    name(),
                    Pointer.lastWritten(DType.INT16, DType.INT16, DType.INT16),
                    Collections.nCopies(counts + 4, DType.INT32),
                    List.of(),
                    KernelSheet.text(sheet()),
                    isChannel() ? List.of(Intrinsics.RESCALE_SMALL) : List.of());
        }

        private KernelSheet.Template sheet() {
            return switch (core) {
                case MVE -> (out, html) -> Jtemve_sum_of_int16Generated.render(out, html, this);
                case DSP -> (out, html) -> Jtedsp_sum_of_int16Generated.render(out, html, this);
                case RISCV ->
                    isChannel()
                            ? (out, html) -> Jteriscv_sum_of_channelGenerated.render(out, html, this)
                            : (out, html) -> Jteriscv_sum_of_int16Generated.render(out, html, this);
                case THUMB1 ->
                    isChannel()
                            ? (out, html) -> Jtethumb1_sum_of_channelGenerated.render(out, html, this)
                            : (out, html) -> Jtethumb1_sum_of_int16Generated.render(out, html, this);
                case THUMB2 -> throw new IllegalArgumentException("no sums of int16 on " + core);
            };
        }
    }
}
