// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.reduce;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.kernels.portable.matrix.JtepackGenerated;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.MatrixKernel;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.OperatorLowering;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import io.kiln.tir.Stmt;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * GEMM of int16 or float matrices by a {@link MatrixKernel}: some columns of the second matrix are packed, and then multiplied by the rows
 * of the first.
 *
 * <pre>
 * scratch: a panel, the sums of a call; its rows of a, if their values are not adjacent
 * </pre>
 */
final class MatrixProduct {
    /** Fewest rows for which micro-kernels pay: with fewer, packing takes as long as the plain loops. */
    static final int LEAST_ROWS = 4;

    /** Most products of int16 whose accumulator can be put together from two of 32 bits. */
    private static final int MOST_DEPTH = 1 << 16;

    private static final long LARGEST_PRODUCT = 1L << 30;

    private final FusedOperator op;
    private final Matrices matrices;
    private final MatrixKernel kernel;
    private final Tables tables;
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
        this.tables = tables;
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
        return Nests.operator(op, buffers, tables, range, Nests.allRows(op), body, schedule)
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
        return new Kernel(
                name,
                List.of(Pointer.in(type), Pointer.out(type)),
                Collections.nCopies(4, DType.INT32),
                List.of(),
                KernelSheet.text((out, html) ->
                        JtepackGenerated.render(out, html, name, type.cName(), kernel.columns(), kernel.step())),
                List.of());
    }
}
