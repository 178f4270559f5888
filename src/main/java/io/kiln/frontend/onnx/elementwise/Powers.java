// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.elementwise;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import java.util.stream.IntStream;

/** Powers of real numbers. */
public final class Powers {
    private Powers() {}

    /** {@code exp(y * log(|x|))}, with the sign of an odd power; NaN for a negative base with a fraction. */
    public static Arg real(Expressions e, Arg x, Arg y) {
        Arg zero = e.number(0, DType.FLOAT32);
        Arg one = e.number(1, DType.FLOAT32);
        Arg magnitude = e.unary(Unary.Kind.EXP, e.multiply(y, e.unary(Unary.Kind.LOG, e.unary(Unary.Kind.ABS, x))));
        Arg nan = e.number(Double.NaN, DType.FLOAT32);
        if (y instanceof Constant constant && areFractions(constant)) {
            return e.where(e.binary(Binary.Kind.LESS, x, zero), nan, magnitude);
        }
        Arg half = e.multiply(y, 0.5);
        Arg isOdd = e.binary(Binary.Kind.NOT_EQUAL, e.unary(Unary.Kind.FLOOR, half), half);
        Arg isWhole = e.binary(Binary.Kind.EQUAL, e.unary(Unary.Kind.FLOOR, y), y);
        Arg sign = e.where(isWhole, e.where(isOdd, e.number(-1, DType.FLOAT32), one), nan);
        Arg signed = e.where(e.binary(Binary.Kind.LESS, x, zero), e.multiply(magnitude, sign), magnitude);
        return e.where(e.binary(Binary.Kind.EQUAL, y, zero), one, signed);
    }

    private static boolean areFractions(Constant exponents) {
        return IntStream.range(0, exponents.elements()).allMatch(i -> {
            float exponent = exponents.real(i);
            return Float.isFinite(exponent) && Math.rint(exponent) != exponent;
        });
    }
}
