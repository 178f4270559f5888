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
import io.kiln.ir.op.layer.OnnxLayers.OnnxSoftmax;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Rows;
import io.kiln.lower.StepSearch;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;

/**
 * ONNX Runtime's softmax of bytes, or its logarithm, without floats. Words hold the bits of floats; scratch holds the exponentials of a vector, and the lanes
 * of their sum.
 */
final class OnnxSoftmaxLowering extends VectorLowering {
    private static final int ONE = 0x3f800000;

    private final OnnxForm form;
    private final boolean isLog;
    private final Expr zeroPoint;
    private final int outputZero;
    private final float scale;
    private final SingleFactor unit;
    private final float outputScale;

    OnnxSoftmaxLowering(FusedOperator op) {
        super(op);
        OnnxSoftmax softmax = (OnnxSoftmax) op.root().op();
        this.form = softmax.form();
        this.isLog = softmax.isLog();
        this.scale = op.root().constant(1).real(0);
        this.unit = SingleFactor.of(scale);
        this.zeroPoint = imm(op.root().constant(2).integer(0));
        this.outputScale = op.root().constant(3).real(0);
        this.outputZero = (int) op.root().constant(4).integer(0);
    }

    /** Lowers to loops over a range of rows. */
    LoweredOperator lower(Rows rows) {
        Buffer exponentials = buffers.scratch(DType.UINT32, depth);
        if (form != OnnxForm.QDQ) {
            Buffer table =
                    buffers.tables().add("exponentials", DType.UINT32, bits(OnnxSoftmaxArithmetic.table(scale, depth)));
            return lower(rows, (block, from, to) -> lookedUp(block, from, to, table, exponentials));
        }
        int most = isLog ? outputZero - Byte.MIN_VALUE : Byte.MAX_VALUE - outputZero;
        int steps = Math.max(1, 2 * Integer.highestOneBit(Math.max(1, most)) - 1);
        Buffer thresholds =
                buffers.tables().add("thresholds", DType.UINT32, OnnxSoftmaxArithmetic.thresholds(outputScale, steps));
        Buffer lanes = buffers.scratch(DType.UINT32, OnnxSoftmaxArithmetic.LANES);
        if (isLog) {
            return lower(rows, (block, from, to) -> {
                Expr largest = largestReal(block, from);
                sum(block, from, largest, exponentials, lanes);
                logarithms(
                        block,
                        from,
                        to,
                        largest,
                        lanes,
                        (b, value) -> StepSearch.of(b, thresholds, imm(0), steps, value));
            });
        }
        return lower(rows, (block, from, to) -> {
            sum(block, from, largestReal(block, from), exponentials, lanes);
            Expr one = imm(ONE, DType.UINT32);
            Expr reciprocal = block.let("reciprocal", call(SingleIntrinsics.DIVIDE, one, load(lanes, imm(0))));
            block.loop("i", depth, (b, i) -> {
                Expr p = b.let("probability", call(SingleIntrinsics.MULTIPLY, load(exponentials, i), reciprocal));
                Expr byteOf = add(StepSearch.of(b, thresholds, imm(0), steps, p), outputZero);
                b.store(buffers.output(), add(to, i), cast(DType.INT8, Exprs.min(byteOf, imm(Byte.MAX_VALUE))));
            });
        });
    }

    /** Stores the bytes of minus the distances to the largest real number, less the logarithm of a sum. */
    private void logarithms(
            BlockBuilder block,
            Expr from,
            Expr to,
            Expr largest,
            Buffer lanes,
            BiFunction<BlockBuilder, Expr, Expr> steps) {
        Expr logarithm = block.let("logarithm", call(SingleIntrinsics.LOGARITHM, load(lanes, imm(0))));
        block.loop("i", depth, (b, i) -> {
            Expr distance = call(SingleIntrinsics.SINGLE, below(b, from, i, largest), imm(unit.exponent()));
            Expr magnitude = b.let("magnitude", call(SingleIntrinsics.ADD, distance, logarithm));
            Expr byteOf = sub(imm(outputZero), steps.apply(b, magnitude));
            b.store(buffers.output(), add(to, i), cast(DType.INT8, Exprs.max(byteOf, imm(Byte.MIN_VALUE))));
        });
    }

    /** The largest real number, in units. */
    private Expr largestReal(BlockBuilder block, Expr from) {
        return block.let("most", multiple(sub(largest(block, from), zeroPoint)));
    }

    /** How far the real number of an element is below the largest one, in units. */
    private Expr below(BlockBuilder block, Expr from, Expr i, Expr largest) {
        Expr x = block.let("value", sub(load(buffers.argument(0), add(from, i)), zeroPoint));
        Expr below = call(SingleIntrinsics.SUM, largest, Exprs.sub(imm(0, DType.INT64), multiple(x)));
        return cast(DType.UINT64, below);
    }

    /** Fills the exponentials of the real numbers and sums them in the first lane. */
    private void sum(BlockBuilder block, Expr from, Expr largest, Buffer exponentials, Buffer lanes) {
        block.loop("i", depth, (b, i) -> {
            Expr e = call(SingleIntrinsics.EXPONENTIAL, below(b, from, i, largest), imm(unit.exponent()));
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
    }

    private Expr multiple(Expr value) {
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

    /** The bits of floats; those negligible beside the largest one are 0. */
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
