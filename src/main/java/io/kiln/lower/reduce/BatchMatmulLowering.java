// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.reduce;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.type.Shape;
import io.kiln.lower.ElementLoops;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.ArrayList;
import java.util.List;

/** Batched GEMM in plain loops: a loop over the products inside loops over the elements of the result. */
final class BatchMatmulLowering {
    private static final long LARGEST_PRODUCT = 255L * 255;

    private final FusedOperator op;
    private final TflBatchMatmul root;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final Buffer a;
    private final Buffer b;
    private final int depth;
    private final DType sumType;
    private final Epilogue epilogue;

    BatchMatmulLowering(FusedOperator op) {
        this.op = op;
        this.root = (TflBatchMatmul) op.root().op();
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.a = buffers.argument(0);
        this.b = buffers.argument(1);
        this.depth = root.depth(shape(0));
        this.sumType = op.sumType();
        this.epilogue = new Epilogue(op, LARGEST_PRODUCT * depth, tables);
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
        return Nests.operator(op, buffers, tables, rows, dependencies, body.build(), "matmul")
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
}
