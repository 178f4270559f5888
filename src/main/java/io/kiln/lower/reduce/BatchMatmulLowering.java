// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.reduce;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.shr;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.type.Shape;
import io.kiln.kernels.portable.matrix.JtepackGenerated;
import io.kiln.lower.ElementLoops;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Limits;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.MatrixKernel;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.OperatorLowering;
import io.kiln.lower.PanelSums;
import io.kiln.lower.Requantization;
import io.kiln.lower.RootLowering;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.SumKernels;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Batched GEMM: by a core's micro-kernel on packed columns of the second matrix, or in plain loops over the elements of the result. */
final class BatchMatmulLowering extends RootLowering {
    private static final long LARGEST_PRODUCT = 255L * 255;

    private final TflBatchMatmul root;
    private final Buffer a;
    private final Buffer b;
    private final int depth;
    private final DType sumType;
    private final Epilogue epilogue;

    BatchMatmulLowering(FusedOperator op) {
        super(op);
        this.root = (TflBatchMatmul) op.root().op();
        this.a = buffers.argument(0);
        this.b = buffers.argument(1);
        this.depth = root.depth(shape(0));
        this.sumType = op.sumType();
        this.epilogue = new Epilogue(op, LARGEST_PRODUCT * depth, buffers.tables());
    }

    LoweredOperator lower(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        ElementLoops.over(body, op.type().shape(), rows, this::element);
        List<RowDependency> dependencies = new ArrayList<>();
        for (int id : op.inputs()) {
            int argument = op.root().args().indexOf(new Arg.Ref(id));
            dependencies.add(new RowDependency.All(Rows.count(shape(argument))));
        }
        long macs = op.type().shape().elements() * depth;
        return Nests.operator(buffers, rows, dependencies, body.build(), "matmul")
                .executing(macs)
                .because("plain loops: " + reason());
    }

    private String reason() {
        String type = op.rootTypes().get(0).dtype().text();
        return op.type().shape().dim(-2) < MatrixProduct.LEAST_ROWS && !type.equals(DType.INT8.text())
                ? "packing columns does not pay for fewer than " + MatrixProduct.LEAST_ROWS + " rows of " + type
                : "no micro-kernel for products of " + type + " matrices of this depth on this core";
    }

    private Shape shape(int argument) {
        return op.rootTypes().get(argument).shape();
    }

    private void element(BlockBuilder block, List<Expr> indices, Expr position) {
        Expr.Var sum = block.mutable("sum", sumType.isFloat() ? imm(0.0f) : imm(0, sumType));
        int last = indices.size() - 1;
        Expr i = indices.get(last - 1);
        Expr j = indices.get(last);
        block.loop("k", depth, (inner, k) -> {
            Expr x = value(a, 0, indices, root.transposeA() ? k : i, root.transposeA() ? i : k);
            Expr y = value(b, 1, indices, root.transposeB() ? j : k, root.transposeB() ? k : j);
            inner.assign(sum, add(sum, product(x, y)));
        });
        epilogue.store(block, "_out", sum, j, buffers.output(), position);
    }

    private Expr value(Buffer buffer, int argument, List<Expr> indices, Expr row, Expr column) {
        List<Expr> own = new ArrayList<>(indices.subList(0, indices.size() - 2));
        own.add(row);
        own.add(column);
        Expr value = load(buffer, ElementLoops.position(shape(argument), own));
        int zeroPoint = (int) op.root().constant(2 + argument).integer(0);
        return sumType.isFloat() ? value : sub(value, imm(zeroPoint));
    }

    private Expr product(Expr x, Expr y) {
        return sumType == DType.INT64 ? mul(cast(DType.INT64, x), cast(DType.INT64, y)) : mul(x, y);
    }

    /**
     * GEMM of int8 matrices by {@link PanelSums}: some columns of the second matrix are packed, and then multiplied by the rows of the first.
     *
     * <pre>
     * sum of (a - A) * (b - B) = sum of a * b  +  (depth * A * B - A * sum of b)  -  B * sum of a
     *                            panel            initial values in the panel       added to a row's sums, unless the panel holds b - B
     * scratch: a panel, the sums of a row; a row of a, if its values are not adjacent
     * </pre>
     */
    static final class PanelProduct {
        /** Largest magnitude that each value adds to a partial sum. */
        private static final long LARGEST_ON_THE_WAY = 256L * 256;

        /** Most columns of a panel, which bounds the scratch. */
        private static final int MOST_COLUMNS = 32;

        private static final Kernel ADD_ROW_SUM = Kernel.inFile(
                "portable/panel/kiln_add_row_sum",
                Pointer.lastWritten(DType.INT8, DType.INT32),
                List.of(DType.INT32, DType.INT32, DType.INT32));

        private final FusedOperator op;
        private final Matrices matrices;
        private final PanelSums panels;
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
            this.buffers = new OperatorBuffers(op);
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
                return new Rescaling.OneByOne(new Epilogue(op, LARGEST_PRODUCT * depth, buffers.tables()));
            }
            SumKernels.Group group = new SumKernels.Group(
                    SumKernels.Sums.DOTS,
                    SumKernels.Result.BYTE,
                    List.of(multiplier(by.orElseThrow())),
                    LARGEST_PRODUCT * depth,
                    by.orElseThrow().outputZeroPoint());
            return new Rescaling.Together(kernels.orElseThrow().rescaler(group, buffers.tables(), "by"));
        }

        private static QuantizedMultiplier multiplier(Requantization by) {
            return new QuantizedMultiplier(by.multipliers().get(0), by.shifts().get(0));
        }

        LoweredOperator lower(Rows range) {
            Stmt body = matrices.over(range, chunk, this::some).build();
            long macs = op.type().shape().elements() * depth;
            String schedule = "panels(columns=" + chunk + ")";
            return Nests.operator(buffers, range, Nests.allRows(op), body, schedule)
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
                    inner.loop(
                            "k", depth, (each, k) -> each.store(row, k, load(a, add(add(place.a(), mul(k, rows)), i))));
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

    /**
     * GEMM of int16 or float matrices by a {@link MatrixKernel}: some columns of the second matrix are packed, and then multiplied by the rows
     * of the first.
     *
     * <pre>
     * scratch: a panel, the sums of a call; its rows of a, if their values are not adjacent
     * </pre>
     */
    static final class MatrixProduct {
        /** Fewest rows for which micro-kernels pay: with fewer, packing takes as long as the plain loops. */
        static final int LEAST_ROWS = 4;

        /** Most products of int16 whose accumulator can be put together from two of 32 bits. */
        private static final int MOST_DEPTH = 1 << 16;

        private static final long LARGEST_PRODUCT = 1L << 30;

        private final FusedOperator op;
        private final Matrices matrices;
        private final MatrixKernel kernel;
        private final OperatorBuffers buffers;
        private final Epilogue epilogue;
        private final Buffer a;
        private final Buffer b;
        private final int depth;
        private final int chunk;
        private final Buffer panel;
        private final Buffer sums;
        private final Buffer gathered;

        private MatrixProduct(FusedOperator op, MatrixKernel kernel, Tables tables) {
            this.op = op;
            this.matrices = new Matrices(op);
            this.kernel = kernel;
            this.buffers = new OperatorBuffers(op, tables);
            this.depth = matrices.depth();
            this.epilogue = new Epilogue(op, LARGEST_PRODUCT * depth, tables);
            this.a = buffers.argument(0);
            this.b = buffers.argument(1);
            this.chunk = matrices.chunk(kernel.mostColumns(), kernel.columns());
            long column = Matrices.padded(depth, kernel.step());
            this.panel = buffers.scratch(b.dtype(), padded(chunk) * column);
            this.sums = buffers.scratch(kernel.sum(), (long) kernel.rows() * padded(chunk));
            this.gathered = matrices.root().transposeA() ? buffers.scratch(a.dtype(), (long) kernel.rows() * depth) : a;
        }

        /** The product, if the core has a kernel for its type, it has enough rows, and kernels need not subtract zero points. */
        static Optional<MatrixProduct> of(FusedOperator op, OperatorLowering.Context context) {
            Matrices matrices = new Matrices(op);
            if (matrices.rows() < LEAST_ROWS || matrices.depth() > MOST_DEPTH || matrices.haveZeroPoints()) {
                return Optional.empty();
            }
            Tables tables = new Tables(op.name());
            return context.matrices()
                    .of(op.rootTypes().get(0).dtype(), tables)
                    .map(kernel -> new MatrixProduct(op, kernel, tables));
        }

        private int padded(int some) {
            return Matrices.padded(some, kernel.columns());
        }

        LoweredOperator lower(Rows range) {
            Stmt body = matrices.over(range, chunk, this::some).build();
            String schedule = "matrix(rows=" + kernel.rows() + ", columns=" + chunk + ")";
            return Nests.operator(buffers, range, Nests.allRows(op), body, schedule)
                    .executing(op.type().shape().elements() * depth)
                    .because("columns are packed once for all rows");
        }

        /** Emits the products of some columns of the second matrix with all rows of the first. */
        private void some(BlockBuilder block, Matrices.Place place, Expr j, int count) {
            int step = matrices.columnStep();
            block.call(
                    packing(),
                    List.of(block.view("values", b, add(place.b(), mul(j, step))), panel),
                    List.of(imm(depth), imm(count), imm(step), imm(matrices.step())));
            int rows = matrices.rows();
            int whole = rows / kernel.rows() * kernel.rows();
            block.loop("i", imm(0), imm(whole), kernel.rows(), (inner, i) -> {
                tile(inner, place, new Part(i, kernel.rows(), j, count));
            });
            block.loop("i", imm(whole), imm(rows), kernel.rows(), (inner, i) -> {
                tile(inner, place, new Part(i, rows - whole, j, count));
            });
        }

        /** A part of the result: its first row and column, and their numbers. */
        private record Part(Expr i, int rows, Expr j, int columns) {}

        private void tile(BlockBuilder block, Matrices.Place place, Part part) {
            int width = padded(part.columns);
            MatrixKernel.Tile tile = new MatrixKernel.Tile(part.rows, width / kernel.columns(), depth);
            kernel.emit(block, tile, rows(block, place, part), panel, sums);
            block.loop("r", part.rows, (row, r) -> {
                Expr to = row.let("to", add(add(place.out(), mul(add(part.i, r), matrices.columns())), part.j));
                row.loop("c", part.columns, (inner, c) -> {
                    Expr sum = inner.let("sum", load(sums, add(mul(r, width), c)));
                    epilogue.store(inner, "_out", sum, add(part.j, c), buffers.output(), add(to, c));
                });
            });
        }

        private Buffer rows(BlockBuilder block, Matrices.Place place, Part part) {
            if (!matrices.root().transposeA()) {
                return block.view("rows", a, add(place.a(), mul(part.i, depth)));
            }
            block.loop("k", depth, (value, k) -> {
                Expr from = value.let("from", add(add(place.a(), mul(k, matrices.rows())), part.i));
                value.loop("r", part.rows, (each, r) -> {
                    each.store(gathered, add(mul(r, depth), k), load(a, add(from, r)));
                });
            });
            return gathered;
        }

        private Kernel packing() {
            DType type = b.dtype();
            String name = "kiln_pack_" + type.text() + "_" + kernel.columns() + "x" + kernel.step();
            return Kernel.of(
                    name,
                    Pointer.lastWritten(type, type),
                    4,
                    (out, html) ->
                            JtepackGenerated.render(out, html, name, type.cName(), kernel.columns(), kernel.step()));
        }
    }

    /** The sizes of a {@link TflBatchMatmul}'s matrices, and the loops over some of their columns at a time. */
    private record Matrices(FusedOperator op) {
        TflBatchMatmul root() {
            return (TflBatchMatmul) op.root().op();
        }

        private Shape shape(int argument) {
            return op.rootTypes().get(argument).shape();
        }

        /** Products that an element of the result accumulates. */
        int depth() {
            return root().depth(shape(0));
        }

        /** Whether an element of a matrix is less a zero point that is not 0. */
        boolean haveZeroPoints() {
            return op.root().constant(2).integer(0) != 0
                    || op.root().constant(3).integer(0) != 0;
        }

        int rows() {
            return op.type().shape().dim(-2);
        }

        int columns() {
            return op.type().shape().dim(-1);
        }

        /** Elements from a column of the second matrix to the next. */
        int columnStep() {
            return root().transposeB() ? depth() : 1;
        }

        /** Elements from a value of such a column to the next. */
        int step() {
            return root().transposeB() ? 1 : columns();
        }

        /** Columns taken at a time: about equally many, and a multiple unless that is more than there are. */
        int chunk(int most, int multiple) {
            int count = (columns() + most - 1) / most;
            return Math.min(columns(), padded((columns() + count - 1) / count, multiple));
        }

        static int padded(int some, int multiple) {
            return (some + multiple - 1) / multiple * multiple;
        }

        /** The first elements of the matrices. */
        record Place(Expr a, Expr b, Expr out) {}

        /** The code for some columns. */
        interface Columns {
            /**
             * Emits the products of some columns.
             *
             * @param first of the columns
             * @param count their number
             */
            void emit(BlockBuilder block, Place place, Expr first, int count);
        }

        /** The loops over all matrices, and over their columns. */
        BlockBuilder over(Rows range, int chunk, Columns some) {
            BlockBuilder body = new BlockBuilder();
            int batch = op.type().shape().rank() - 2;
            ElementLoops.over(body, op.type().shape(), range, batch, (block, indices, position) -> {
                List<Expr> first = new ArrayList<>(indices);
                first.addAll(List.of(imm(0), imm(0)));
                Place place = new Place(
                        block.let("a_first", ElementLoops.position(shape(0), first)),
                        block.let("b_first", ElementLoops.position(shape(1), first)),
                        block.let("out_first", position));
                int whole = columns() / chunk * chunk;
                block.loop("column", imm(0), imm(whole), chunk, (inner, j) -> some.emit(inner, place, j, chunk));
                block.loop("column", imm(whole), imm(columns()), chunk, (inner, j) -> {
                    some.emit(inner, place, j, columns() - whole);
                });
            });
            return body;
        }
    }
}
