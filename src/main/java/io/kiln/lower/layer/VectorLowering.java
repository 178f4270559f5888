// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;

import io.kiln.ir.type.Shape;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.RootLowering;
import io.kiln.lower.Rows;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;

/** Lowers an operator whose results depend on a whole vector of its first argument along the last axis. */
abstract class VectorLowering extends RootLowering {
    final Epilogue epilogue;
    final int depth;

    VectorLowering(FusedOperator op) {
        super(op);
        this.epilogue = new Epilogue(op, Integer.MAX_VALUE, buffers.tables());
        this.depth = op.type().shape().dim(-1);
    }

    /** The operator with loops over the vectors of a range of rows. */
    LoweredOperator lower(Rows rows, Nests.VectorBody vector) {
        Shape out = op.type().shape();
        BlockBuilder body = Nests.vectors(out, rows, vector);
        return Nests.operator(buffers, rows, List.of(Nests.elementwise(out, out)), body.build(), "rows");
    }

    /** The largest element of the vector at a position. */
    Expr.Var largest(BlockBuilder block, Expr from) {
        Buffer data = buffers.argument(0);
        Expr.Var largest = block.mutable("largest", load(data, from));
        block.loop(
                "i",
                imm(1),
                imm(depth),
                (b, i) -> b.assign(largest, Exprs.max(b.let("value", load(data, add(from, i))), largest)));
        return largest;
    }
}
