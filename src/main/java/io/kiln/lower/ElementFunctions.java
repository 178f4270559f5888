// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.op.BiasAdd;
import io.kiln.ir.op.Binary;
import io.kiln.ir.op.Cast;
import io.kiln.ir.op.Copy;
import io.kiln.ir.op.FixedPointMultiply;
import io.kiln.ir.op.Full;
import io.kiln.ir.op.LeakyRelu;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnAdd;
import io.kiln.ir.op.QnnBinary;
import io.kiln.ir.op.QnnDequantize;
import io.kiln.ir.op.QnnQuantize;
import io.kiln.ir.op.Reshape;
import io.kiln.ir.op.TflAddN;
import io.kiln.ir.op.TflLeakyRelu;
import io.kiln.ir.op.TflLookup;
import io.kiln.ir.op.TflSigmoid16;
import io.kiln.ir.op.Unary;
import io.kiln.ir.op.Where;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.List;

/** Finds what the root of a fused operator computes of one element of each operand. */
final class ElementFunctions {
    private ElementFunctions() {}

    static ElementFunction of(FusedOperator op, Tables tables) {
        Op root = op.root().op();
        if (root instanceof Unary unary) {
            return UnaryFunctions.of(unary, op.type().dtype());
        }
        if (root instanceof LeakyRelu relu) {
            return UnaryFunctions.leakyRelu(relu);
        }
        if (root instanceof Binary binary) {
            return BinaryFunctions.of(binary.kind(), op.rootTypes().get(0).dtype());
        }
        if (root instanceof FixedPointMultiply multiply) {
            return BinaryFunctions.fixedPointMultiply(multiply.rounding());
        }
        if (root instanceof Cast to) {
            return CastFunctions.of(op.rootTypes().get(0).dtype(), to.dtype());
        }
        if (root instanceof Where) {
            return ElementFunction.fitting(
                    (block, x) -> Exprs.select(Exprs.notEqual(x.get(0), imm(0)), x.get(1), x.get(2)));
        }
        return quantized(op, root, tables);
    }

    private static ElementFunction quantized(FusedOperator op, Op root, Tables tables) {
        if (root instanceof QnnAdd || root instanceof QnnBinary || root instanceof TflAddN) {
            return QuantizedFunctions.of(op, tables);
        }
        if (root instanceof TflLookup) {
            return TableFunctions.lookup(op, tables);
        }
        if (root instanceof TflSigmoid16 sigmoid) {
            return TableFunctions.sigmoid(sigmoid, TableFunctions.sigmoidTable(tables));
        }
        if (root instanceof TflLeakyRelu relu) {
            return QuantizedFunctions.leakyRelu(relu);
        }
        if (root instanceof QnnDequantize) {
            float scale = op.root().constant(1).real(0);
            int zeroPoint = (int) op.root().constant(2).integer(0);
            return ElementFunction.fitting((block, x) ->
                    mul(cast(DType.FLOAT32, sub(x.get(0), imm(zeroPoint))), imm(scale)));
        }
        if (root instanceof QnnQuantize) {
            return ElementFunction.saturating((block, x) -> quantized(op, block, x.get(0)));
        }
        boolean isWord = op.type().dtype() == DType.INT32;
        if (root instanceof BiasAdd && (isWord || op.root().args().get(1) instanceof Arg.Ref)) {
            return BinaryFunctions.of(Binary.Kind.ADD, op.type().dtype());
        }
        if (root instanceof BiasAdd) {
            return ElementFunction.saturating((block, x) -> add(x.get(0), x.get(1)));
        }
        boolean unchanged = root instanceof Full || root instanceof Copy || root instanceof Reshape;
        return new ElementFunction((block, x) -> x.get(0), unchanged);
    }

    /** The quotient is limited before it becomes an integer, so that no float is out of the integer's range. */
    private static Expr quantized(FusedOperator op, BlockBuilder block, Expr value) {
        DType dtype = op.type().dtype();
        float scale = op.root().constant(1).real(0);
        int zeroPoint = (int) op.root().constant(2).integer(0);
        Expr rounded = new Expr.Call(Intrinsic.ROUNDF, List.of(Exprs.div(value, imm(scale))));
        Expr above = Exprs.max(block.let("rounded", rounded), imm((float) (dtype.min() - zeroPoint)));
        Expr within = Exprs.min(block.let("above", above), imm((float) (dtype.max() - zeroPoint)));
        return add(cast(DType.INT32, within), imm(zeroPoint));
    }
}
