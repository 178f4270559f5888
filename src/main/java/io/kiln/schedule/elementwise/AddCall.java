// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.elementwise;

import io.kiln.base.Optimize;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Rows;
import io.kiln.lower.element.Int16Add;
import io.kiln.lower.element.ProvenAdd;
import io.kiln.target.CpuFeatures;
import io.kiln.target.CpuFeatures.Family;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
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
record AddCall(Kernel kernel, int first, List<Expr> scalars, Run run, String schedule, String reason) {
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

    AddCall {
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
}
