// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
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
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.Collections;
import java.util.List;

/**
 * The quantized sum of two tensors of one shape on MVE, four elements at a time.
 *
 * <pre>
 *   q0, q1   elements of both sides, widened to 32 bits     q2 factor of the left side
 *   VMLAS    q0 = q0 * q2 + offset      VMLA q0 += q1 * factor of the right side      VSHR      narrowing with saturation
 * </pre>
 */
public final class MveSum {
    private static final KernelText TEXT = KernelText.of("mve/sum");

    private static final String REASON = "one multiplication for each side (MVE), tried for all 65,536 pairs";

    private final FusedOperator op;
    private final ProvenSum sum;
    private final Tables tables;
    private final OperatorBuffers buffers;

    private MveSum(FusedOperator op, ProvenSum sum) {
        this.op = op;
        this.sum = sum;
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
    }

    /** Whether a sum can use this on a CPU: two inputs of the output's shape. */
    public static boolean suits(FusedOperator op, CpuFeatures features) {
        return features.hasMve()
                && op.inputs().size() == 2
                && op.rootTypes().get(0).shape().equals(op.type().shape())
                && op.rootTypes().get(1).shape().equals(op.type().shape())
                && ProvenSum.of(op).isPresent();
    }

    public static LoweredOperator lower(FusedOperator op, Rows rows) {
        return new MveSum(op, ProvenSum.of(op).orElseThrow()).lower(rows);
    }

    private LoweredOperator lower(Rows rows) {
        int count = Rows.count(op.type().shape());
        long row = op.type().shape().elements() / count;
        BlockBuilder body = new BlockBuilder();
        if (rows.areContiguous()) {
            call(body, rows, rows.begin(), mul(sub(rows.end(), rows.begin()), row), row);
        } else {
            body.loop("y", rows.begin(), rows.end(), 1, (block, y) -> call(block, rows, y, imm(row), row));
        }
        List<RowDependency> same = Collections.nCopies(2, RowDependency.same(count));
        return Nests.operator(op, buffers, tables, rows, same, body.build(), "mve_sum(shift=" + sum.shift() + ")")
                .because(REASON);
    }

    private void call(BlockBuilder block, Rows rows, Expr y, Expr elements, long row) {
        Buffer lhs = block.view("lhs", buffers.argument(0), mul(rows.inputLine(input(0), y), row));
        Buffer rhs = block.view("rhs", buffers.argument(1), mul(rows.inputLine(input(1), y), row));
        Buffer out = block.mutableView("out", buffers.output(), mul(rows.outputLine(y), row));
        block.call(
                kernel(),
                List.of(lhs, rhs, out),
                List.of(elements, imm(sum.lhs()), imm(sum.rhs()), imm(sum.offset()), imm(sum.low()), imm(sum.high())));
    }

    private int input(int argument) {
        return op.inputs().indexOf(((Arg.Ref) op.root().args().get(argument)).id());
    }

    private Kernel kernel() {
        boolean limits = sum.low() > DType.INT8.min() || sum.high() < DType.INT8.max();
        String name = "kiln_mve_sum_" + sum.shift() + (limits ? "_l" : "");
        String limit = limits ? "vmax.s32 q0, q0, q3\nvmin.s32 q0, q0, q4\n" : "vqmovnb.s16 q0, q0\n";
        String loop = """
                vdup.32 q2, %%[lhs_by]
                %swlstp.32 lr, %%[count], 2f
                1:
                vldrb.s32 q0, [%%[lhs]], #4
                vmlas.s32 q0, q2, %%[offset]
                vldrb.s32 q1, [%%[rhs]], #4
                vmla.s32 q0, q1, %%[rhs_by]
                vshr.s32 q0, q0, #%d
                %svstrb.32 q0, [%%[out]], #4
                letp lr, 1b
                2:
                """.formatted(limits ? "vdup.32 q3, %[low]\nvdup.32 q4, %[high]\n" : "", sum.shift(), limit);
        String limitOperands = limits ? ", [low] \"r\"(low), [high] \"r\"(high)" : "";
        String unused = limits ? "" : "  (void)low;\n  (void)high;\n";
        String definition = TEXT.with("NAME", name)
                .with("SHIFT", sum.shift())
                .with("INSTRUCTIONS", MveText.lines(loop))
                .with(
                        "OPERANDS",
                        "[count] \"r\"(count), [lhs_by] \"r\"(lhs_by), [rhs_by] \"r\"(rhs_by), [offset] \"r\"(offset)"
                                + limitOperands)
                .with("CHANGED", (limits ? "\"q3\", \"q4\", " : "") + "\"cc\", \"memory\"")
                .with("UNUSED_LIMITS", unused)
                .text();
        return new Kernel(
                name,
                List.of(Pointer.in(DType.INT8), Pointer.in(DType.INT8), Pointer.out(DType.INT8)),
                Collections.nCopies(6, DType.INT32),
                List.of(),
                definition,
                List.of());
    }
}
