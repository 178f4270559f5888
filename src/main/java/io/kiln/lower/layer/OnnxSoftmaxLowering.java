// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.arith.OnnxSoftmaxArithmetic;
import io.kiln.ir.arith.SingleFactor;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.layer.OnnxSoftmax;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Rows;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.Arrays;
import java.util.List;

/**
 * ONNX Runtime's softmax of bytes, without floats. Words hold the bits of floats; scratch holds the exponentials of a vector, and the lanes
 * of their sum.
 */
final class OnnxSoftmaxLowering extends VectorLowering {
    private static final int ONE = 0x3f800000;

    private final OnnxForm form;
    private final Expr zeroPoint;
    private final int outputZero;
    private final float scale;
    private final float outputScale;

    OnnxSoftmaxLowering(FusedOperator op) {
        super(op);
        this.form = ((OnnxSoftmax) op.root().op()).form();
        this.scale = op.root().constant(1).real(0);
        this.zeroPoint = imm(op.root().constant(2).integer(0));
        this.outputScale = op.root().constant(3).real(0);
        this.outputZero = (int) op.root().constant(4).integer(0);
    }

    /** Lowers to loops over a range of rows. */
    LoweredOperator lower(Rows rows) {
        Buffer exponentials = buffers.scratch(DType.UINT32, depth);
        if (form != OnnxForm.QDQ) {
            Buffer table = tables.add("exponentials", DType.UINT32, bits(OnnxSoftmaxArithmetic.table(scale, depth)));
            return lower(rows, (block, from, to) -> lookedUp(block, from, to, table, exponentials));
        }
        int most = Byte.MAX_VALUE - outputZero;
        int steps = Math.max(1, 2 * Integer.highestOneBit(Math.max(1, most)) - 1);
        Buffer thresholds =
                tables.add("thresholds", DType.UINT32, OnnxSoftmaxArithmetic.thresholds(outputScale, steps));
        Buffer lanes = buffers.scratch(DType.UINT32, OnnxSoftmaxArithmetic.LANES);
        return lower(rows, (block, from, to) -> {
            Expr reciprocal = reciprocal(block, from, exponentials, lanes);
            block.loop("i", depth, (b, i) -> {
                Expr p = b.let("probability", call(SingleIntrinsics.MULTIPLY, load(exponentials, i), reciprocal));
                Expr byteOf = add(StepSearch.of(b, thresholds, imm(0), steps, p), outputZero);
                b.store(buffers.output(), add(to, i), cast(DType.INT8, Exprs.min(byteOf, imm(Byte.MAX_VALUE))));
            });
        });
    }

    /** Fills the exponentials of the real numbers and computes the reciprocal of their sum. */
    private Expr reciprocal(BlockBuilder block, Expr from, Buffer exponentials, Buffer lanes) {
        SingleFactor unit = SingleFactor.of(scale);
        Expr largest = block.let("most", multiple(sub(largest(block, from), zeroPoint), unit));
        block.loop("i", depth, (b, i) -> {
            Expr x = b.let("value", sub(load(buffers.argument(0), add(from, i)), zeroPoint));
            Expr below = call(SingleIntrinsics.SUM, largest, Exprs.sub(imm(0, DType.INT64), multiple(x, unit)));
            Expr e = call(SingleIntrinsics.EXPONENTIAL, cast(DType.UINT64, below), imm(unit.exponent()));
            b.store(exponentials, i, e);
        });
        int count = OnnxSoftmaxArithmetic.LANES;
        block.loop("lane", count, (b, lane) -> {
            Expr.Var sum = b.mutable("sum", imm(0, DType.UINT32));
            b.loop("i", lane, imm(depth), count, (each, i) -> addTo(each, sum, load(exponentials, i)));
            b.store(lanes, lane, sum);
        });
        block.loop("lane", count / 2, (b, lane) -> fold(b, lanes, lane, lane, add(lane, count / 2)));
        for (int half = count / 4; half > 0; half /= 2) {
            block.loop("lane", half, (b, lane) -> {
                Expr first = Exprs.mul(lane, 2);
                fold(b, lanes, lane, first, add(first, 1));
            });
        }
        Expr one = imm(ONE, DType.UINT32);
        return block.let("reciprocal", call(SingleIntrinsics.DIVIDE, one, load(lanes, imm(0))));
    }

    private static Expr multiple(Expr value, SingleFactor unit) {
        return call(SingleIntrinsics.MULTIPLE, value, imm(unit.mantissa()));
    }

    private static void fold(BlockBuilder block, Buffer lanes, Expr to, Expr a, Expr b) {
        block.store(lanes, to, call(SingleIntrinsics.ADD, load(lanes, a), load(lanes, b)));
    }

    private static void addTo(BlockBuilder block, Expr.Var sum, Expr value) {
        block.assign(sum, call(SingleIntrinsics.ADD, sum, value));
    }

    private void lookedUp(BlockBuilder block, Expr from, Expr to, Buffer table, Buffer exponentials) {
        Expr.Var largest = largest(block, from);
        Expr.Var sum = block.mutable("sum", imm(0, DType.UINT32));
        block.loop("i", depth, (b, i) -> {
            Expr x = b.let("value", load(buffers.argument(0), add(from, i)));
            Expr e = b.let("e", load(table, sub(add(x, Byte.MAX_VALUE - Byte.MIN_VALUE), largest)));
            b.store(exponentials, i, e);
            addTo(b, sum, e);
        });
        Expr factor = imm(Float.floatToIntBits(OnnxSoftmaxArithmetic.factor(outputScale)), DType.UINT32);
        block.loop("i", depth, (b, i) -> {
            Expr scaled = b.let("scaled", call(SingleIntrinsics.MULTIPLY, load(exponentials, i), factor));
            Expr steps = call(SingleIntrinsics.ROUND, call(SingleIntrinsics.DIVIDE, scaled, sum));
            Expr byteOf = b.let("quantized", add(steps, outputZero));
            Expr limited = form == OnnxForm.INT8 ? byteOf : Exprs.min(byteOf, imm(Byte.MAX_VALUE));
            b.store(buffers.output(), add(to, i), cast(DType.INT8, limited));
        });
    }

    /** The bits of floats; what is negligible beside the largest one is 0. */
    private static int[] bits(float[] table) {
        float least = table[table.length - 1] * Math.scalb(1f, -60);
        int[] bits = new int[table.length];
        Arrays.setAll(bits, i -> table[i] < least ? 0 : Float.floatToIntBits(table[i]));
        return bits;
    }

    private static Expr call(Intrinsic intrinsic, Expr... arguments) {
        return new Expr.Call(intrinsic, List.of(arguments));
    }
}
