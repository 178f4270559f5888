// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.elementwise;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.UnsignedOrder;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import java.util.List;

/** Powers, remainders, shifts and complements. */
final class ArithmeticImporters {
    private static final int MOST_PRODUCTS = 64;
    /** Relative amount added to a float power before it is truncated, so that 2.9999998 becomes 3. */
    private static final double ROUNDING = 2e-6;

    private static final int EXPONENT_BITS = 6;
    private static final int EXPONENT_CAP = 62;

    static final List<OnnxRegistration> ALL = List.of(
            onnx("Pow", ArithmeticImporters::pow),
            onnx("Mod", ArithmeticImporters::mod),
            onnx("BitShift", ArithmeticImporters::shift),
            onnx("BitwiseNot", ArithmeticImporters::bitwiseNot));

    private ArithmeticImporters() {}

    private static void pow(NodeContext node) {
        Expressions e = new Expressions(node);
        boolean isOne = node.arg(1) instanceof Constant constant && constant.elements() == 1;
        double exponent = isOne ? first((Constant) node.arg(1)) : Double.NaN;
        boolean isFloat = node.element(0).isFloat();
        if (exponent == Math.rint(exponent) && exponent >= 0 && exponent <= MOST_PRODUCTS) {
            Arg base = e.broadcast(node.arg(0), e.broadcastShape(node.shape(0), node.shape(1)));
            node.finish(WiderElements.narrow(e, whole(e, base, (int) exponent), node.element(0)));
        } else if (isFloat && exponent == 0.5) {
            node.finish(e.unary(Unary.Kind.SQRT, node.arg(0)));
        } else if (isFloat) {
            node.finish(Powers.real(e, node.arg(0), e.cast(node.arg(1), DType.FLOAT32)));
        } else {
            powerOfIntegers(node, e);
        }
    }

    private static double first(Constant constant) {
        return constant.type().dtype().isFloat() ? constant.real(0) : constant.integer(0);
    }

    /** By squares. */
    private static Arg whole(Expressions e, Arg base, int exponent) {
        if (exponent == 0) {
            return e.broadcast(e.number(1, e.dtype(base)), e.shape(base));
        }
        Arg half = exponent == 1 ? base : whole(e, base, exponent / 2);
        Arg square = exponent == 1 ? base : e.multiply(half, half);
        return exponent > 1 && exponent % 2 == 1 ? e.multiply(square, base) : square;
    }

    /** Integers with computed exponents; a float power is truncated to an integer. */
    private static void powerOfIntegers(NodeContext node, Expressions e) {
        DType held = e.dtype(node.arg(0));
        node.require(!held.isWideUnsigned(), "its base is " + held.text(), "signed integers or floats");
        if (node.element(1).isFloat()) {
            Arg power = Powers.real(e, e.cast(node.arg(0), DType.FLOAT32), node.arg(1));
            node.finish(e.cast(e.multiply(power, 1 + ROUNDING), held));
            return;
        }
        DType wide = held == DType.INT64 ? held : DType.INT32;
        Arg power = bitwise(e, e.cast(node.arg(0), wide), e.cast(node.arg(1), wide), wide);
        node.finish(WiderElements.narrow(e, e.cast(power, held), node.element(0)));
    }

    /** Squares of the base for each bit of the exponent; beyond 63 only its lowest bit matters for -1, 0 and 1. */
    private static Arg bitwise(Expressions e, Arg base, Arg exponent, DType dtype) {
        Arg zero = e.number(0, dtype);
        Arg one = e.number(1, dtype);
        Arg magnitude = e.binary(Binary.Kind.MAXIMUM, exponent, e.subtract(zero, exponent));
        Arg even = e.multiply(e.binary(Binary.Kind.RIGHT_SHIFT, magnitude, one), 2);
        Arg capped = e.add(e.subtract(magnitude, even), EXPONENT_CAP);
        Arg isLarge = e.binary(Binary.Kind.GREATER, magnitude, e.number(EXPONENT_CAP, dtype));
        Arg rest = e.where(isLarge, capped, magnitude);
        Arg square = base;
        Arg power = e.broadcast(one, e.broadcastShape(e.shape(base), e.shape(exponent)));
        for (int bit = 0; bit < EXPONENT_BITS; bit++) {
            Arg half = e.binary(Binary.Kind.RIGHT_SHIFT, rest, one);
            Arg isOdd = e.binary(Binary.Kind.NOT_EQUAL, e.multiply(half, 2), rest);
            power = e.where(isOdd, e.multiply(power, square), power);
            square = e.multiply(square, square);
            rest = half;
        }
        Arg isNegative = e.binary(Binary.Kind.LESS, exponent, zero);
        return e.where(isNegative, e.divide(one, power), power);
    }

    /** The remainder with the divisor's sign, or, with {@code fmod}, with the dividend's. */
    private static void mod(NodeContext node) {
        Expressions e = new Expressions(node);
        boolean truncates = node.attributes().truth("fmod", false);
        ElementType type = node.element(0);
        Arg a = node.arg(0);
        Arg b = node.arg(1);
        if (type.isFloat()) {
            node.require(truncates, "it divides floats", "fmod=1");
            Arg rest = e.binary(Binary.Kind.FLOOR_MOD, e.unary(Unary.Kind.ABS, a), e.unary(Unary.Kind.ABS, b));
            Arg isNegative = e.binary(Binary.Kind.LESS, a, e.number(0, DType.FLOAT32));
            node.finish(e.where(isNegative, e.unary(Unary.Kind.NEGATIVE, rest), rest));
            return;
        }
        if (type == ElementType.UINT64) {
            Arg x = e.cast(a, DType.INT64);
            Arg y = e.cast(b, DType.INT64);
            Arg whole = e.multiply(UnsignedOrder.quotient(e, x, y), y);
            node.finish(e.cast(e.subtract(x, whole), DType.UINT64));
            return;
        }
        DType wide = e.dtype(a) == DType.INT64 || e.dtype(a) == DType.UINT32 ? DType.INT64 : DType.INT32;
        Arg x = e.cast(a, wide);
        Arg y = e.cast(b, wide);
        Arg rest = e.subtract(x, e.multiply(e.divide(x, y), y));
        if (!truncates) {
            Arg zero = e.number(0, wide);
            Arg differs = e.binary(
                    Binary.Kind.NOT_EQUAL, e.binary(Binary.Kind.LESS, rest, zero), e.binary(Binary.Kind.LESS, y, zero));
            Arg isRest = e.binary(Binary.Kind.NOT_EQUAL, rest, zero);
            rest = e.where(e.binary(Binary.Kind.LOGICAL_AND, differs, isRest), e.add(rest, y), rest);
        }
        node.finish(e.cast(rest, e.dtype(a)));
    }

    private static void bitwiseNot(NodeContext node) {
        Expressions e = new Expressions(node);
        Arg ones = e.number(-1, e.dtype(node.arg(0)));
        node.finish(WiderElements.apply(e, Binary.Kind.BITWISE_XOR, node.element(0), node.arg(0), ones));
    }

    private static void shift(NodeContext node) {
        Expressions e = new Expressions(node);
        ElementType type = node.element(0);
        String direction = node.attributes().text("direction", "");
        node.require(
                direction.equals("LEFT") || direction.equals("RIGHT"),
                "its direction is `" + direction + "`",
                "LEFT or RIGHT");
        DType wide = e.dtype(node.arg(0)).isWideUnsigned() ? DType.INT64 : DType.INT32;
        Arg value = e.cast(node.arg(0), wide);
        Arg bits = e.cast(node.arg(1), wide);
        Arg shifted = direction.equals("LEFT")
                ? e.binary(Binary.Kind.LEFT_SHIFT, value, bits)
                : type == ElementType.UINT64
                        ? UnsignedOrder.shiftedRight(e, value, bits)
                        : e.binary(Binary.Kind.RIGHT_SHIFT, value, bits);
        node.finish(WiderElements.narrow(e, e.cast(shifted, e.dtype(node.arg(0))), type));
    }
}
