// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.elementwise;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.microsoft;
import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import java.util.List;
import java.util.function.BiFunction;

/** Functions of one element that consist of others; each is exact to a few units in the last place. */
final class FunctionImporters {
    private static final double LARGE = 1 << 20;
    private static final double HALF_PI = Math.PI / 2;

    /** Coefficients of atan(x) / x in powers of x^2 for |x| up to 1, within 2e-8 (Abramowitz and Stegun, 4.4.49). */
    private static final double[] ARC_TANGENT = {
        0.0028662257,
        -0.0161657367,
        0.0429096138,
        -0.0752896400,
        0.1065626393,
        -0.1420889944,
        0.1999355085,
        -0.3333314528,
        1
    };

    static final List<OnnxRegistration> ALL = List.of(
            onnx("Erf", new OnnxUnaryImporter(Unary.Kind.ERF)),
            onnx("Gelu", FunctionImporters::gelu),
            microsoft("Gelu", FunctionImporters::gelu),
            function("Tan", (e, x) -> e.divide(e.unary(Unary.Kind.SIN, x), e.unary(Unary.Kind.COS, x))),
            function("Sinh", FunctionImporters::sinh),
            function("Cosh", FunctionImporters::cosh),
            function("Asinh", FunctionImporters::asinh),
            function("Acosh", FunctionImporters::acosh),
            function("Atanh", FunctionImporters::atanh),
            function("Atan", FunctionImporters::atan),
            function("Asin", FunctionImporters::asin),
            function("Acos", (e, x) -> e.subtract(e.number(HALF_PI, DType.FLOAT32), asin(e, x))));

    private FunctionImporters() {}

    private static OnnxRegistration function(String name, BiFunction<Expressions, Arg, Arg> formula) {
        return onnx(name, n -> n.finish(formula.apply(new Expressions(n), n.arg(0))));
    }

    private static Arg number(Expressions e, double value) {
        return e.number(value, DType.FLOAT32);
    }

    private static Arg magnitude(Expressions e, Arg x) {
        return e.unary(Unary.Kind.ABS, x);
    }

    /** The value with the sign of x. */
    private static Arg signed(Expressions e, Arg value, Arg x) {
        Arg isNegative = e.binary(Binary.Kind.LESS, x, number(e, 0));
        return e.where(isNegative, e.unary(Unary.Kind.NEGATIVE, value), value);
    }

    /** {@code log(1 + x)} without the error of the sum: {@code x * log(w) / (w - 1)} with {@code w = 1 + x} as rounded. */
    private static Arg log1p(Expressions e, Arg x) {
        Arg w = e.add(x, 1);
        Arg rounded = e.add(w, -1);
        Arg isZero = e.binary(Binary.Kind.EQUAL, rounded, number(e, 0));
        Arg divisor = e.where(isZero, number(e, 1), rounded);
        Arg isInfinite = e.binary(Binary.Kind.GREATER, x, number(e, Float.MAX_VALUE / 2));
        Arg log = e.unary(Unary.Kind.LOG, w);
        Arg scaled = e.where(isInfinite, log, e.multiply(log, e.divide(x, divisor)));
        return e.where(isZero, x, scaled);
    }

    /** {@code -t * (2 + t) / (2 * (1 + t))} with {@code t = exp(-|x|) - 1}, which does not cancel. */
    private static Arg sinh(Expressions e, Arg x) {
        Arg t = e.unary(Unary.Kind.ELU, e.unary(Unary.Kind.NEGATIVE, magnitude(e, x)));
        Arg above = e.multiply(e.unary(Unary.Kind.NEGATIVE, t), e.add(t, 2));
        return signed(e, e.divide(above, e.multiply(e.add(t, 1), 2)), x);
    }

    private static Arg cosh(Expressions e, Arg x) {
        Arg up = e.unary(Unary.Kind.EXP, e.add(magnitude(e, x), -Math.log(2)));
        return e.add(up, e.divide(number(e, 0.25), up));
    }

    /** {@code log(1 + |x| + x^2 / (1 + sqrt(x^2 + 1)))}, and {@code log(2 |x|)} of large numbers. */
    private static Arg asinh(Expressions e, Arg x) {
        Arg a = magnitude(e, x);
        Arg root = e.unary(Unary.Kind.SQRT, e.add(e.multiply(a, a), 1));
        Arg rest = e.divide(e.multiply(a, a), e.add(root, 1));
        return signed(e, logOfTwice(e, a, log1p(e, e.add(a, rest))), x);
    }

    /** {@code log(1 + t + sqrt(t) sqrt(t + 2))} with {@code t = x - 1}, and {@code log(2 x)} of large numbers. */
    private static Arg acosh(Expressions e, Arg x) {
        Arg t = e.add(x, -1);
        Arg root = e.multiply(e.unary(Unary.Kind.SQRT, t), e.unary(Unary.Kind.SQRT, e.add(t, 2)));
        return logOfTwice(e, x, log1p(e, e.add(t, root)));
    }

    /** {@code log(2 x)} of numbers whose squares may be infinite and hide a one, another value of the others. */
    private static Arg logOfTwice(Expressions e, Arg x, Arg otherwise) {
        Arg isLarge = e.binary(Binary.Kind.GREATER, x, number(e, LARGE));
        return e.where(isLarge, e.add(e.unary(Unary.Kind.LOG, x), Math.log(2)), otherwise);
    }

    /** {@code log(1 + 2 |x| / (1 - |x|)) / 2}. */
    private static Arg atanh(Expressions e, Arg x) {
        Arg a = magnitude(e, x);
        Arg ratio = e.divide(e.multiply(a, 2), e.subtract(number(e, 1), a));
        return signed(e, e.multiply(log1p(e, ratio), 0.5), x);
    }

    private static Arg atan(Expressions e, Arg x) {
        Arg a = magnitude(e, x);
        Arg isLarge = e.binary(Binary.Kind.GREATER, a, number(e, 1));
        Arg reduced = e.where(isLarge, e.divide(number(e, 1), a), a);
        Arg square = e.multiply(reduced, reduced);
        Arg sum = number(e, ARC_TANGENT[0]);
        for (int i = 1; i < ARC_TANGENT.length; i++) {
            sum = e.add(e.multiply(sum, square), ARC_TANGENT[i]);
        }
        Arg angle = e.multiply(sum, reduced);
        return signed(e, e.where(isLarge, e.subtract(number(e, HALF_PI), angle), angle), x);
    }

    /** {@code atan(x / sqrt((1 - x) * (1 + x)))}. */
    private static Arg asin(Expressions e, Arg x) {
        Arg rest = e.multiply(e.subtract(number(e, 1), x), e.add(x, 1));
        return atan(e, e.divide(x, e.unary(Unary.Kind.SQRT, rest)));
    }

    /** {@code x / 2 * (1 + erf(x / sqrt(2)))}, or its approximation by the hyperbolic tangent. */
    private static void gelu(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg x = node.arg(0);
        boolean isTanh = node.attributes().text("approximate", "none").equals("tanh");
        Arg cube = isTanh ? e.multiply(e.multiply(e.multiply(x, x), x), 0.044715) : x;
        Arg curve = isTanh
                ? e.unary(Unary.Kind.TANH, e.multiply(e.add(x, cube), Math.sqrt(2 / Math.PI)))
                : e.unary(Unary.Kind.ERF, e.multiply(x, Math.sqrt(0.5)));
        node.finish(e.multiply(e.multiply(x, 0.5), e.add(curve, 1)));
    }
}
