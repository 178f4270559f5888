// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.reduce;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.shr;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.op.Rounding;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Limits;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.OperatorLowering;
import io.kiln.lower.PanelSums;
import io.kiln.lower.Requantization;
import io.kiln.lower.Rows;
import io.kiln.lower.SumKernels;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.Stmt;
import java.util.List;
import java.util.Optional;

/**
 * GEMM of int8 matrices by {@link PanelSums}: some columns of the second matrix are packed, and then multiplied by the rows of the first.
 *
 * <pre>
 * sum of (a - A) * (b - B) = sum of a * b  +  (depth * A * B - A * sum of b)  -  B * sum of a
 *                            panel            initial values in the panel       added to a row's sums, unless the panel holds b - B
 * scratch: a panel, the sums of a row; a row of a, if its values are not adjacent
 * </pre>
 */
final class PanelProduct {
    private static final long LARGEST_PRODUCT = 255L * 255;

    /** Largest magnitude that each value adds to a partial sum. */
    private static final long LARGEST_ON_THE_WAY = 256L * 256;

    /** Most columns of a panel, which bounds the scratch. */
    private static final int MOST_COLUMNS = 32;

    private static final Kernel ADD_ROW_SUM = Kernel.inFile(
            "portable/panel/kiln_add_row_sum",
            List.of(Pointer.in(DType.INT8), Pointer.out(DType.INT32)),
            List.of(DType.INT32, DType.INT32, DType.INT32));

    private final FusedOperator op;
    private final Matrices matrices;
    private final PanelSums panels;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final Buffer a;
    private final Buffer b;
    private final int depth;
    private final int chunk;
    private final Buffer panel;
    private final Buffer sums;
    private final Buffer row;
    private final Rescaling rescaling;

    /** How accumulators become results. */
    private sealed interface Rescaling {
        record Together(SumKernels.Requantizer rescaler) implements Rescaling {}

        record OneByOne(Epilogue epilogue) implements Rescaling {}
    }

    private PanelProduct(FusedOperator op, PanelSums panels, Optional<SumKernels> kernels) {
        this.op = op;
        this.matrices = new Matrices(op);
        this.panels = panels;
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.a = buffers.argument(0);
        this.b = buffers.argument(1);
        this.depth = matrices.depth();
        this.chunk = matrices.chunk(MOST_COLUMNS, panels.columns());
        this.panel = buffers.scratch(DType.INT8, (long) padded(chunk) * panels.bytes(depth));
        this.sums = buffers.scratch(DType.INT32, padded(chunk));
        this.row = matrices.root().transposeA() ? buffers.scratch(DType.INT8, depth) : a;
        this.rescaling = rescaling(kernels);
    }

    /** The GEMM, if the core has a kernel and all accumulators of int8 fit. */
    static Optional<PanelProduct> of(FusedOperator op, OperatorLowering.Context context) {
        int depth = new Matrices(op).depth();
        return context.panels()
                .filter(panels -> op.rootTypes().get(0).dtype() == DType.INT8)
                .filter(panels -> LARGEST_ON_THE_WAY * depth <= Integer.MAX_VALUE / panels.scale())
                .map(panels -> new PanelProduct(op, panels, context.sums()));
    }

    private int zeroPoint(int argument) {
        return (int) op.root().constant(2 + argument).integer(0);
    }

    private int padded(int some) {
        return Matrices.padded(some, panels.columns());
    }

    private Rescaling rescaling(Optional<SumKernels> kernels) {
        Limits limits = Limits.of(op);
        Optional<Requantization> by = op.requantization()
                .filter(r -> r.rounding() == Rounding.TFLITE && r.inputZeroPoint() == 0 && !r.isPerChannel())
                .filter(r -> SumKernels.takes(multiplier(r), LARGEST_PRODUCT * depth));
        boolean isWhole = op.type().dtype() == DType.INT8
                && limits.low() == DType.INT8.min()
                && limits.high() == DType.INT8.max();
        if (kernels.isEmpty() || by.isEmpty() || !isWhole) {
            return new Rescaling.OneByOne(new Epilogue(op, LARGEST_PRODUCT * depth, tables));
        }
        SumKernels.Group group = new SumKernels.Group(
                SumKernels.Sums.DOTS,
                SumKernels.Result.BYTE,
                List.of(multiplier(by.orElseThrow())),
                LARGEST_PRODUCT * depth,
                by.orElseThrow().outputZeroPoint());
        return new Rescaling.Together(kernels.orElseThrow().rescaler(group, tables, "by"));
    }

    private static QuantizedMultiplier multiplier(Requantization by) {
        return new QuantizedMultiplier(by.multipliers().get(0), by.shifts().get(0));
    }

    LoweredOperator lower(Rows range) {
        Stmt body = matrices.over(range, chunk, this::some).build();
        long macs = op.type().shape().elements() * depth;
        String schedule = "panels(columns=" + chunk + ")";
        return Nests.operator(op, buffers, tables, range, Nests.allRows(op), body, schedule)
                .executing(macs)
                .because("columns are packed once for all rows");
    }

    /** Emits the products of some columns of the second matrix with all rows of the first. */
    private void some(BlockBuilder block, Matrices.Place place, Expr j, int count) {
        int rows = matrices.rows();
        int columnStep = matrices.columnStep();
        PanelSums.Columns of =
                new PanelSums.Columns(depth, count, columnStep, matrices.step(), zeroPoint(1), zeroPoint(0));
        Buffer values = block.view("values", b, add(place.b(), mul(j, columnStep)));
        panels.pack(block, of, values, panel);
        block.loop("i", rows, (inner, i) -> {
            Expr from = imm(0);
            if (matrices.root().transposeA()) {
                inner.loop("k", depth, (each, k) -> each.store(row, k, load(a, add(add(place.a(), mul(k, rows)), i))));
            } else {
                from = inner.let("from", add(place.a(), mul(i, depth)));
            }
            sums(inner, from, count);
            results(inner, inner.let("to", add(add(place.out(), mul(i, matrices.columns())), j)), j, count);
        });
    }

    private void sums(BlockBuilder block, Expr from, int count) {
        panels.emit(block, new SumKernels.Block(panel, imm(0), padded(count), depth), row, from, sums);
        if (zeroPoint(1) != 0 && !panels.areCentred()) {
            block.call(
                    ADD_ROW_SUM,
                    List.of(block.view("a_row", row, from), sums),
                    List.of(imm(depth), imm(count), imm(-(long) zeroPoint(1) * panels.scale())));
        }
    }

    private void results(BlockBuilder block, Expr to, Expr j, int count) {
        if (rescaling instanceof Rescaling.Together all) {
            all.rescaler.emit(block, count, sums, block.mutableView("results", buffers.output(), to));
        } else if (rescaling instanceof Rescaling.OneByOne each) {
            block.loop("c", count, (inner, c) -> {
                Expr sum = inner.let("sum", load(sums, c));
                Expr plain = panels.scale() == 2 ? shr(sum, imm(1)) : sum;
                each.epilogue.store(inner, "_out", plain, add(j, c), buffers.output(), add(to, c));
            });
        }
    }
}
