// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.elementwise;

import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.ir.op.element.TflLeakyRelu;
import io.kiln.kernels.elementwise.Jtedsp_slopes_of_int16Generated;
import io.kiln.kernels.elementwise.Jtemve_slopes_of_int16Generated;
import io.kiln.kernels.elementwise.Jteriscv_slopes_of_int16Generated;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.element.ProvenSlopes;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.List;
import java.util.Optional;

/** A function of two slopes of int16 elements, by a kernel of the core. */
public final class ElementSlopes {
    private final FusedOperator op;
    private final ProvenSlopes slopes;
    private final SlopesKernel kernel;
    private final Tables tables;
    private final OperatorBuffers buffers;

    private ElementSlopes(FusedOperator op, ProvenSlopes slopes, SlopesKernel kernel) {
        this.op = op;
        this.slopes = slopes;
        this.kernel = kernel;
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
    }

    /** Loops for a leaky ReLU; empty for another operator, or if the core has no kernel for it. */
    public static Optional<LoweredOperator> lower(
            FusedOperator op, Rows rows, CpuFeatures features, Optimize optimize) {
        boolean suits = op.root().op() instanceof TflLeakyRelu
                && op.type().dtype() == DType.INT16
                && op.clip().isEmpty()
                && op.requantization().isEmpty()
                && (features.hasMve() || features.hasDsp() || ElementCore.isRv32(features));
        return suits
                ? ProvenSlopes.of((TflLeakyRelu) op.root().op())
                        .map(slopes ->
                                new ElementSlopes(op, slopes, kernel(op, features, optimize, slopes)).lower(rows))
                : Optional.empty();
    }

    private static SlopesKernel kernel(FusedOperator op, CpuFeatures features, Optimize optimize, ProvenSlopes slopes) {
        if (features.hasMve()) {
            return new SlopesKernel(ElementCore.MVE, slopes, 4);
        }
        long row = op.type().shape().elements() / Rows.count(op.type().shape());
        int block = ElementCore.block(optimize, row);
        return ElementCore.isRv32(features)
                ? new SlopesKernel(ElementCore.RISCV, slopes, block)
                : new SlopesKernel(ElementCore.DSP, slopes, block);
    }

    private LoweredOperator lower(Rows rows) {
        int count = Rows.count(op.type().shape());
        BlockBuilder body = new BlockBuilder();
        if (rows.areContiguous()) {
            call(body, rows, rows.begin(), sub(rows.end(), rows.begin()));
        } else {
            body.loop("y", rows.begin(), rows.end(), (block, y) -> call(block, rows, y, imm(1)));
        }
        return Nests.operator(buffers, rows, List.of(RowDependency.same(count)), body.build(), kernel.schedule())
                .because("one multiplication for both slopes, tried for all 65,536 values");
    }

    private void call(BlockBuilder block, Rows rows, Expr y, Expr count) {
        long row = op.type().shape().elements() / Rows.count(op.type().shape());
        Buffer in = block.view("in", buffers.argument(0), mul(rows.inputLine(0, y), row));
        Buffer out = block.mutableView("out", buffers.output(), mul(rows.outputLine(y), row));
        ProvenSlopes.Slope positive = slopes.positive();
        ProvenSlopes.Slope negative = slopes.negative();
        block.call(
                kernel.kernel(),
                List.of(in, out),
                List.of(
                        mul(count, row),
                        imm(positive.multiplier()),
                        imm(negative.multiplier() - (long) positive.multiplier()),
                        imm(positive.offset()),
                        imm(negative.offset() - (long) positive.offset())));
    }

    /**
     * A core's kernel for {@link ProvenSlopes}. Its arguments are the elements, the results, their number, multiplier and offset of values from 0 on,
     * and by how much more those of values below 0 are. The sheets are {@code kernels/elementwise/<core>_slopes_of_int16}.
     *
     * @param core with MVE, DSP instructions or RV32IM
     * @param slopes what it computes
     * @param block elements of an iteration, of which the number of elements is a multiple: 1, 2 or a multiple of 4; of no meaning for MVE
     */
    public record SlopesKernel(ElementCore core, ProvenSlopes slopes, int block) {
        /** C name. */
        public String name() {
            return "kiln_" + core.id() + "_slopes" + (core == ElementCore.MVE ? "" : "_x" + block) + "_"
                    + slopes.shift()
                    + (slopes.fits() ? "" : "_s")
                    + (slopes.hasOneOffset() ? "" : "_o");
        }

        /** Name of the schedule. */
        String schedule() {
            String unroll = core == ElementCore.MVE ? "" : ", unroll=" + block;
            return core.id() + "_slopes(shift=" + slopes.shift() + unroll + ")";
        }

        Kernel kernel() {
            return Kernel.of(
                    name(),
                    Pointer.lastWritten(DType.INT16, DType.INT16),
                    5,
                    switch (core) {
                        case MVE -> (out, html) -> Jtemve_slopes_of_int16Generated.render(out, html, this);
                        case RISCV -> (out, html) -> Jteriscv_slopes_of_int16Generated.render(out, html, this);
                        case DSP -> (out, html) -> Jtedsp_slopes_of_int16Generated.render(out, html, this);
                        case THUMB2, THUMB1 -> throw new IllegalArgumentException("no slopes on " + core);
                    });
        }
    }
}
