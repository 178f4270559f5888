// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Optimize;
import io.kiln.ir.Arg;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.element.ProvenSum;
import io.kiln.target.CpuFeatures;
import io.kiln.target.CpuFeatures.Family;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** The quantized sum of two tensors of one shape, by a kernel of the core. */
public final class ElementSum {
    private final FusedOperator op;
    private final ProvenSum sum;
    private final SumKernel kernel;
    private final Tables tables;
    private final OperatorBuffers buffers;

    private ElementSum(FusedOperator op, ProvenSum sum, SumKernel kernel) {
        this.op = op;
        this.sum = sum;
        this.kernel = kernel;
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
    }

    /** Loops for a sum of two inputs of the output's shape; empty for another operator, or if the core has no kernel for it. */
    public static Optional<LoweredOperator> lower(
            FusedOperator op, Rows rows, CpuFeatures features, Optimize optimize) {
        boolean suits = (features.hasMve() || features.family() == Family.CORTEX_M)
                && op.inputs().size() == 2
                && op.rootTypes().get(0).shape().equals(op.type().shape())
                && op.rootTypes().get(1).shape().equals(op.type().shape());
        return suits
                ? ProvenSum.of(op)
                        .flatMap(sum -> kernel(features, optimize, sum, rowElements(op))
                                .map(kernel -> new ElementSum(op, sum, kernel).lower(rows)))
                : Optional.empty();
    }

    private static Optional<SumKernel> kernel(CpuFeatures features, Optimize optimize, ProvenSum sum, long elements) {
        if (features.hasMve()) {
            return Optional.of(new MveSum(sum));
        }
        int block = optimize == Optimize.SIZE ? 2 : 8;
        while (elements % block != 0) {
            block /= 2;
        }
        if (features.hasLongMultiply()) {
            return Optional.of(new Thumb2Sum(sum, block));
        }
        return SumKernel.hasLimits(sum) ? Optional.empty() : Optional.of(new Thumb1Sum(sum, Math.min(block, 4)));
    }

    private static long rowElements(FusedOperator op) {
        return op.type().shape().elements() / Rows.count(op.type().shape());
    }

    private LoweredOperator lower(Rows rows) {
        int count = Rows.count(op.type().shape());
        long row = rowElements(op);
        BlockBuilder body = new BlockBuilder();
        if (rows.areContiguous()) {
            call(body, rows, rows.begin(), mul(sub(rows.end(), rows.begin()), row), row);
        } else {
            body.loop("y", rows.begin(), rows.end(), 1, (block, y) -> call(block, rows, y, imm(row), row));
        }
        List<RowDependency> same = Collections.nCopies(2, RowDependency.same(count));
        return Nests.operator(op, buffers, tables, rows, same, body.build(), kernel.schedule())
                .because(kernel.reason() + ", tried for all 65,536 pairs");
    }

    private void call(BlockBuilder block, Rows rows, Expr y, Expr elements, long row) {
        Buffer lhs = block.view("lhs", buffers.argument(0), mul(rows.inputLine(input(0), y), row));
        Buffer rhs = block.view("rhs", buffers.argument(1), mul(rows.inputLine(input(1), y), row));
        Buffer out = block.mutableView("out", buffers.output(), mul(rows.outputLine(y), row));
        block.call(
                kernel.kernel(),
                List.of(lhs, rhs, out),
                List.of(elements, imm(sum.lhs()), imm(sum.rhs()), imm(sum.offset()), imm(sum.low()), imm(sum.high())));
    }

    private int input(int argument) {
        return op.inputs().indexOf(((Arg.Ref) op.root().args().get(argument)).id());
    }
}
