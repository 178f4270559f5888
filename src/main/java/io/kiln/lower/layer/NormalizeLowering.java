// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.base.DType.INT32;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.shr;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.arith.TflNormalization;
import io.kiln.ir.op.layer.TflNormalize;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.Rows;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Intrinsic;
import java.util.List;

/** Normalizations of int8 along the last axis; a logarithmic softmax by tables of 256 differences and exponentials. */
public final class NormalizeLowering extends VectorLowering {
    NormalizeLowering(FusedOperator op) {
        super(op);
    }

    /** Lowers to loops over a range of rows. */
    LoweredOperator lower(Rows rows) {
        boolean isLog = ((TflNormalize) op.root().op()).kind() == TflNormalize.Kind.LOG_SOFTMAX;
        return lower(rows, isLog ? logSoftmax() : this::l2);
    }

    private Nests.VectorBody logSoftmax() {
        float scale = op.root().constant(1).real(0);
        Buffer terms = buffers.tables().add("exponentials", DType.INT32, TflNormalization.terms(scale));
        Buffer differences = buffers.tables().add("differences", DType.INT32, TflNormalization.differences(scale));
        return (block, from, to) -> logSoftmax(block, from, to, terms, differences);
    }

    private void logSoftmax(BlockBuilder block, Expr from, Expr to, Buffer terms, Buffer differences) {
        Buffer data = buffers.argument(0);
        Expr.Var largest = largest(block, from);
        Expr.Var sum = block.mutable("sum", imm(0));
        block.loop("i", depth, (b, i) -> b.assign(sum, add(sum, load(terms, sub(largest, load(data, add(from, i)))))));
        Expr logarithm = block.let("logarithm", new Expr.Call(NormalizeIntrinsics.LOGARITHM, List.of(sum)));
        block.loop("i", depth, (b, i) -> {
            Expr difference = load(differences, sub(largest, load(data, add(from, i))));
            Expr value = b.let("logit", sub(difference, logarithm));
            Expr half = add(imm(1L << (TflNormalization.OUTPUT_SHIFT - 1)), shr(value, imm(31)));
            Expr rounded = shr(add(value, half), imm(TflNormalization.OUTPUT_SHIFT));
            epilogue.store(b, "", add(rounded, imm(127)), imm(0), buffers.output(), add(to, i));
        });
    }

    private void l2(BlockBuilder block, Expr from, Expr to) {
        Expr zeroPoint = imm(op.root().constant(2).integer(0));
        Buffer data = buffers.argument(0);
        Expr.Var sum = block.mutable("sum", imm(0));
        block.loop("i", depth, (b, i) -> {
            Expr value = b.let("value", sub(load(data, add(from, i)), zeroPoint));
            b.assign(sum, add(sum, mul(value, value)));
        });
        Expr exponent = block.let("exponent", new Expr.Call(NormalizeIntrinsics.ROOT_EXPONENT, List.of(sum)));
        Expr root = block.let("root", new Expr.Call(NormalizeIntrinsics.INVERSE_ROOT, List.of(sum, exponent)));
        Expr shift = block.let("scale", sub(imm(TflNormalization.OUTPUT_BITS), exponent));
        block.loop("i", depth, (b, i) -> {
            Expr value = sub(load(data, add(from, i)), zeroPoint);
            Expr scaled = new Expr.Call(Intrinsics.RESCALE_ANY, List.of(value, root, shift));
            epilogue.store(b, "", scaled, imm(0), buffers.output(), add(to, i));
        });
    }

    /** Helpers of generated C for normalizations in fixed point. */
    public static final class NormalizeIntrinsics {
        /** {@link io.kiln.ir.arith.TflNormalization#logarithm}. */
        public static final Intrinsic LOGARITHM = Intrinsic.inFile(
                "portable/kiln_logarithm",
                List.of(INT32),
                INT32,
                Intrinsics.HIGH_MUL,
                Intrinsics.LEADING_ZEROS,
                Intrinsics.RECIPROCAL);

        /** {@link io.kiln.ir.arith.InverseSquareRoot#exponent}. */
        public static final Intrinsic ROOT_EXPONENT =
                Intrinsic.inFile("portable/kiln_root_exponent", List.of(INT32), INT32, Intrinsics.LEADING_ZEROS);

        /** {@link io.kiln.ir.arith.InverseSquareRoot#root}, given the exponent too. */
        public static final Intrinsic INVERSE_ROOT =
                Intrinsic.inFile("portable/kiln_inverse_root", List.of(INT32, INT32), INT32, Intrinsics.HIGH_MUL);

        private NormalizeIntrinsics() {}
    }
}
