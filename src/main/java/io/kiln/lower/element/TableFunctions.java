// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.lower.element.ElementFunction.fitting;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.shr;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.InterpolatedTable;
import io.kiln.ir.arith.TflSigmoid;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.Tables;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;
import java.util.stream.IntStream;

/** Functions of one quantized element computed by lookup. */
public final class TableFunctions {
    /** Divisor that makes the table's elements fit into int16. */
    private static final int TABLE_BASE = 1 << 15;

    private static final int CHORDS = 2 * TflSigmoid.SIZE;

    private TableFunctions() {}

    static ElementFunction lookup(FusedOperator op, Tables tables) {
        Constant answers = op.root().constant(1);
        Buffer table = tables.add("table", answers.type().dtype(), answers.data());
        return fitting((block, x) -> load(table, sub(x.get(0), imm(Byte.MIN_VALUE))));
    }

    /** {@link InterpolatedTable}: an element, and in the upper half of its word the step to the next, which wraps around as the kernel's does. */
    static ElementFunction interpolated(FusedOperator op, Tables tables) {
        Constant samples = op.root().constant(1);
        int[] chords = IntStream.range(0, InterpolatedTable.SIZE - 1)
                .map(i -> (int) (samples.integer(i + 1) - samples.integer(i)) << Short.SIZE
                        | ((int) samples.integer(i) & 0xffff))
                .toArray();
        Buffer table = tables.add("chords", DType.INT32, chords);
        int bits = InterpolatedTable.FRACTION_BITS;
        return fitting((block, x) -> {
            Expr v = block.let("v", x.get(0));
            Expr index = add(shr(v, imm(bits)), imm(InterpolatedTable.MIDDLE));
            Expr fraction = Exprs.bitAnd(v, imm((1L << bits) - 1));
            Expr place = Exprs.bitOr(Exprs.shl(fraction, imm(Short.SIZE)), imm(1L << bits));
            Expr sum = new Expr.Call(Intrinsics.SMLAD, List.of(load(table, index), place, imm(1L << (bits - 1))));
            return shr(block.let("sum", sum), imm(bits));
        });
    }

    /**
     * The table that {@link #sigmoid} interpolates in: {@link TflSigmoid}'s less one half, an odd function, so that an
     * argument's magnitude is not needed; first the elements from 0 on, then those from -{@link TflSigmoid#SIZE} on. Beside each, in the
     * upper half of the word, is the step to the next.
     */
    public static Buffer sigmoidTable(Tables tables) {
        int[] half = TflSigmoid.table();
        int[] chords = IntStream.range(0, CHORDS)
                .map(i -> i < TflSigmoid.SIZE ? i : i - CHORDS)
                .map(i -> (odd(half, i + 1) - odd(half, i)) << Short.SIZE | (odd(half, i) & 0xffff))
                .toArray();
        return tables.add("chords", DType.INT32, chords);
    }

    private static int odd(int[] half, int i) {
        return Integer.signum(i) * (half[Math.min(Math.abs(i), TflSigmoid.LAST)] - TABLE_BASE);
    }

    /** {@link TflSigmoid}'s formula. */
    public static ElementFunction sigmoid(TflSigmoid16 op, Buffer table) {
        boolean logistic = op.kind() == TflSigmoid16.Kind.LOGISTIC;
        int bits = logistic ? TflSigmoid.LOGISTIC_BITS : TflSigmoid.TANH_BITS;
        int lost = logistic ? TflSigmoid.LOGISTIC_SHIFT : TflSigmoid.TANH_BITS;
        // One half, which the table lacks, and half of the result's step.
        long added = (logistic ? (long) TABLE_BASE << bits : 0) + (1L << (lost - 1));
        return fitting((block, x) -> {
            Expr v = block.let("v", limited(op, argument(op, x.get(0))));
            Expr index = Exprs.bitAnd(shr(v, imm(bits)), imm(CHORDS - 1L));
            Expr fraction = Exprs.bitAnd(v, imm((1L << bits) - 1));
            Expr place = Exprs.bitOr(Exprs.shl(fraction, imm(Short.SIZE)), imm(1L << bits));
            // Halves round away from zero.
            Expr half = new Expr.Call(ElementIntrinsics.LESS_ONE_IF_NEGATIVE, List.of(imm(added), v));
            Expr sum = new Expr.Call(Intrinsics.SMLAD, List.of(load(table, index), place, half));
            return shr(block.let("sum", sum), imm(lost));
        });
    }

    private static Expr argument(TflSigmoid16 op, Expr x) {
        int half = op.shift() > 0 ? 1 << (op.shift() - 1) : 0;
        return shr(add(mul(x, op.multiplier()), imm(half)), imm(op.shift()));
    }

    /** Limits the argument to the table; for the logistic function to values before the last step, where its result is the limit's. */
    private static Expr limited(TflSigmoid16 op, Expr v) {
        boolean logistic = op.kind() == TflSigmoid16.Kind.LOGISTIC;
        long most = (((long) -Short.MIN_VALUE * op.multiplier()) >> op.shift()) + 1;
        if (logistic) {
            long last = ((long) TflSigmoid.LAST << TflSigmoid.LOGISTIC_BITS) - 1;
            return most <= last ? v : new Expr.Call(Intrinsics.CLAMP, List.of(v, imm(-last), imm(last)));
        }
        return most < (long) TflSigmoid.SIZE << TflSigmoid.TANH_BITS
                ? v
                : new Expr.Call(Intrinsics.SATURATE_17, List.of(v));
    }
}
