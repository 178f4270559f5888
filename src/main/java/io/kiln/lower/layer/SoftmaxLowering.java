// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.TflInt16Softmax;
import io.kiln.ir.arith.TflInt16Softmax.Int16SoftmaxTables;
import io.kiln.ir.arith.TflSoftmaxTables;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.RequantizeCalls;
import io.kiln.lower.Rows;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.List;

/**
 * Softmax over the last axis: float by {@code expf}, int8 by a table of 256 exponentials, int16 by interpolation in
 * tables.
 */
final class SoftmaxLowering extends VectorLowering {
    SoftmaxLowering(FusedOperator op) {
        super(op);
    }

    LoweredOperator lower(Softmax softmax, Rows rows) {
        return lower(rows, (block, from, to) -> real(block, softmax.beta(), from, to, largest(block, from)));
    }

    LoweredOperator lower(TflSoftmax softmax, Rows rows) {
        boolean isWide = op.rootTypes().get(0).dtype() == DType.INT16;
        return lower(rows, (block, from, to) -> {
            Expr.Var largest = largest(block, from);
            if (isWide) {
                wide(block, softmax, from, to, largest);
            } else {
                quantized(block, softmax, from, to, largest);
            }
        });
    }

    private void real(BlockBuilder block, float beta, Expr from, Expr first, Expr.Var largest) {
        Buffer out = buffers.output();
        Expr.Var sum = block.mutable("sum", imm(0.0f));
        block.loop("i", depth, (b, i) -> {
            Expr difference = sub(load(buffers.argument(0), add(from, i)), largest);
            Expr scaled = beta == 1.0f ? difference : mul(difference, imm(beta));
            Expr e = b.let("e", new Expr.Call(Intrinsic.EXPF, List.of(scaled)));
            b.store(out, add(first, i), e).assign(sum, add(sum, e));
        });
        block.loop(
                "i",
                depth,
                (b, i) -> epilogue.store(b, "", Exprs.div(load(out, add(first, i)), sum), imm(0), out, add(first, i)));
    }

    private void quantized(BlockBuilder block, TflSoftmax softmax, Expr from, Expr first, Expr.Var largest) {
        float scale = op.root().constant(1).real(0);
        Buffer table =
                buffers.tables().add("exponentials", DType.INT32, TflSoftmaxTables.exponentials(softmax.beta(), scale));
        Expr.Var sum = block.mutable("sum", imm(0, DType.UINT32));
        block.loop("i", depth, (b, i) -> {
            Expr e = b.let("e", load(table, sub(largest, load(buffers.argument(0), add(from, i)))));
            Expr rounding = Exprs.bitAnd(Exprs.shr(e, imm(11)), imm(1));
            Expr term = add(Exprs.shr(e, imm(12)), rounding);
            b.assign(sum, add(sum, Exprs.cast(DType.UINT32, term)));
        });
        Expr zeros = block.let("zeros", new Expr.Call(Intrinsics.LEADING_ZEROS, List.of(sum)));
        Expr normalised = Exprs.cast(DType.INT32, sub(Exprs.shl(sum, zeros), imm(0x80000000L, DType.UINT32)));
        Expr reciprocal = block.let("reciprocal", new Expr.Call(Intrinsics.RECIPROCAL, List.of(normalised)));
        Expr shift = block.let(
                "scale", sub(zeros, imm(12 + 31 - 8 * softmax.outDtype().bytes())));
        block.loop("i", depth, (b, i) -> {
            Expr e = load(table, sub(largest, load(buffers.argument(0), add(from, i))));
            Expr scaled = new Expr.Call(Intrinsics.RESCALE_ANY, List.of(reciprocal, e, shift));
            epilogue.store(b, "", sub(scaled, imm(-softmax.outDtype().min())), imm(0), buffers.output(), add(first, i));
        });
    }

    /** {@link TflInt16Softmax}; the output temporarily holds the exponentials. */
    private void wide(BlockBuilder block, TflSoftmax softmax, Expr from, Expr first, Expr.Var largest) {
        Buffer out = buffers.output();
        Int16SoftmaxTables values = Int16SoftmaxTables.of(softmax.tables());
        Buffer exponentials = buffers.tables().add("exponentials", DType.INT16, values.exponentials());
        Buffer reciprocals = buffers.tables().add("reciprocals", DType.INT16, values.reciprocals());
        QuantizedMultiplier by =
                TflInt16Softmax.multiplier(softmax.beta(), op.root().constant(1).real(0));
        Expr.Var sum = block.mutable("sum", imm(0));
        block.loop("i", depth, (b, i) -> {
            Expr difference = sub(load(buffers.argument(0), add(from, i)), largest);
            Expr scaled = new Expr.Call(
                    Intrinsics.RESCALE_ANY, List.of(difference, imm((long) by.multiplier()), imm((long) by.shift())));
            Expr e = interpolated(
                    b,
                    exponentials,
                    RequantizeCalls.plus(scaled, Short.MAX_VALUE, RequantizeCalls.largest(by, 1L << 16)));
            b.store(out, add(first, i), e).assign(sum, add(sum, e));
        });
        Expr unsigned = Exprs.cast(DType.UINT32, sum);
        Expr zeros = block.let("zeros", new Expr.Call(Intrinsics.LEADING_ZEROS, List.of(unsigned)));
        Expr highest = Exprs.shl(unsigned, sub(zeros, imm(1)));
        Expr rounded = Exprs.shr(add(highest, imm(1 << 13, DType.UINT32)), imm(14));
        Expr reciprocal = interpolated(
                block, reciprocals, sub(Exprs.cast(DType.INT32, rounded), imm(TflInt16Softmax.SUM_MIDDLE)));
        Expr shift = block.let("shift", sub(imm(31), zeros));
        Expr half = block.let("half", Exprs.shl(imm(1), sub(shift, imm(1))));
        block.loop("i", depth, (b, i) -> {
            Expr product = mul(load(out, add(first, i)), reciprocal);
            epilogue.store(b, "_out", Exprs.shr(add(product, half), shift), imm(0), out, add(first, i));
        });
    }

    /** An element interpolated in a table, clamped to its range. */
    private static Expr interpolated(BlockBuilder block, Buffer table, Expr at) {
        Expr limited = block.let("limited", new Expr.Call(Intrinsics.SATURATE_16, List.of(at)));
        Expr index = block.let(
                "index", add(Exprs.shr(limited, imm(TflInt16Softmax.FRACTION_BITS)), imm(TflInt16Softmax.MIDDLE)));
        Expr low = block.let("low", load(table, index));
        Expr slope = sub(load(table, add(index, imm(1))), low);
        Expr rest = Exprs.bitAnd(limited, imm((1 << TflInt16Softmax.FRACTION_BITS) - 1));
        Expr half = imm(1 << (TflInt16Softmax.FRACTION_BITS - 1));
        Expr raised = Exprs.shr(add(mul(slope, rest), half), imm(TflInt16Softmax.FRACTION_BITS));
        return block.let("interpolated", add(low, raised));
    }
}
