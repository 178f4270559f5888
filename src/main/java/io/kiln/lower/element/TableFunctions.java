// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.lower.element.ElementFunction.fitting;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.shr;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.TflSigmoid;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.Arrays;

/** Functions of one quantized element computed by lookup. */
public final class TableFunctions {
    /** Divisor that makes the table's elements fit into int16. */
    private static final int TABLE_BASE = 1 << 15;

    private TableFunctions() {}

    static ElementFunction lookup(FusedOperator op, Tables tables) {
        Constant answers = op.root().constant(1);
        Buffer table = tables.add("table", answers.type().dtype(), answers.data());
        return fitting((block, x) -> load(table, sub(x.get(0), imm(Byte.MIN_VALUE))));
    }

    /** The table that {@link #sigmoid} interpolates in. */
    public static Buffer sigmoidTable(Tables tables) {
        int[] elements =
                Arrays.stream(TflSigmoid.table()).map(v -> v - TABLE_BASE).toArray();
        return tables.add("table", DType.INT16, elements);
    }

    /** {@link TflSigmoid}'s formula. */
    public static ElementFunction sigmoid(TflSigmoid16 op, Buffer table) {
        boolean logistic = op.kind() == TflSigmoid16.Kind.LOGISTIC;
        int bits = logistic ? TflSigmoid.LOGISTIC_BITS : TflSigmoid.TANH_BITS;
        int limit = logistic ? TflSigmoid.LOGISTIC_LIMIT : TflSigmoid.TANH_LIMIT;
        int lost = logistic ? TflSigmoid.LOGISTIC_SHIFT : TflSigmoid.TANH_BITS;
        int zero = logistic ? 0 : 1 << (bits + 15);
        // The function of -v is c - f(v), with c = 1 and 0.
        int mirrored = logistic ? 1 << (bits + 16) : 0;
        int half = 1 << (lost - 1);
        return fitting((block, x) -> {
            Expr v = block.let("v", argument(op, x.get(0)));
            Expr r = block.let("r", sub(interpolated(block, table, v, bits, limit), imm(zero)));
            Expr rounded = select(Exprs.ge(v, imm(0)), add(r, imm(half)), sub(imm((long) mirrored + half - 1), r));
            return shr(block.let("rounded", rounded), imm(lost));
        });
    }

    private static Expr argument(TflSigmoid16 op, Expr x) {
        int half = op.shift() > 0 ? 1 << (op.shift() - 1) : 0;
        return shr(add(mul(x, op.multiplier()), imm(half)), imm(op.shift()));
    }

    private static Expr interpolated(BlockBuilder block, Buffer table, Expr v, int bits, int limit) {
        Expr a = block.let("a", select(lt(v, imm(0)), sub(imm(0), v), v));
        Expr i = block.let("index", shr(a, imm(bits)));
        Expr element = add(load(table, i), imm(TABLE_BASE));
        Expr step = sub(load(table, add(i, imm(1))), load(table, i));
        Expr between = mul(Exprs.bitAnd(a, imm((1L << bits) - 1)), step);
        return select(lt(i, imm(TflSigmoid.LAST)), add(mul(element, 1L << bits), between), imm(limit));
    }
}
