// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.elementwise;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.frontend.onnx.operator.UnsignedOrder;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Reinterpret;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The table of element-wise operators; and those of two elements, powers, remainders, shifts and complements, selections, conversions, and operators
 * that change nothing.
 */
public final class OnnxElementwiseImporters {
    private static final int MOST_PRODUCTS = 64;

    /** Relative amount added to a float power before it is truncated, so that 2.9999998 becomes 3. */
    private static final double ROUNDING = 2e-6;

    private static final int EXPONENT_BITS = 6;
    private static final int EXPONENT_CAP = 62;

    private static final int NO_TRAINING_MODE = 7;
    private static final List<OnnxRegistration> UNARY = List.of(
            onnx("Sqrt", new OnnxUnaryImporter(Unary.Kind.SQRT)),
            onnx("Exp", new OnnxUnaryImporter(Unary.Kind.EXP)),
            onnx("Log", new OnnxUnaryImporter(Unary.Kind.LOG)),
            onnx("Sin", new OnnxUnaryImporter(Unary.Kind.SIN)),
            onnx("Cos", new OnnxUnaryImporter(Unary.Kind.COS)),
            onnx("Ceil", new OnnxUnaryImporter(Unary.Kind.CEIL)),
            onnx("Floor", new OnnxUnaryImporter(Unary.Kind.FLOOR)),
            onnx("Round", new OnnxUnaryImporter(Unary.Kind.ROUND)),
            onnx("Sigmoid", new OnnxUnaryImporter(Unary.Kind.SIGMOID)),
            onnx("Tanh", new OnnxUnaryImporter(Unary.Kind.TANH)),
            onnx("HardSwish", new OnnxUnaryImporter(Unary.Kind.HARD_SWISH)),
            onnx("Not", new OnnxUnaryImporter(Unary.Kind.LOGICAL_NOT)));

    private static final List<OnnxRegistration> BINARY = List.of(
            onnx("Add", new OnnxBinaryImporter(Binary.Kind.ADD)),
            onnx("Sub", new OnnxBinaryImporter(Binary.Kind.SUBTRACT)),
            onnx("Mul", new OnnxBinaryImporter(Binary.Kind.MULTIPLY)),
            onnx("Div", new OnnxBinaryImporter(Binary.Kind.DIVIDE)),
            onnx("Equal", new OnnxBinaryImporter(Binary.Kind.EQUAL)),
            onnx("Less", new OnnxBinaryImporter(Binary.Kind.LESS)),
            onnx("LessOrEqual", new OnnxBinaryImporter(Binary.Kind.LESS_EQUAL)),
            onnx("Greater", new OnnxBinaryImporter(Binary.Kind.GREATER)),
            onnx("GreaterOrEqual", new OnnxBinaryImporter(Binary.Kind.GREATER_EQUAL)),
            onnx("And", new OnnxBinaryImporter(Binary.Kind.LOGICAL_AND)),
            onnx("Or", new OnnxBinaryImporter(Binary.Kind.LOGICAL_OR)),
            onnx("Xor", new OnnxBinaryImporter(Binary.Kind.NOT_EQUAL)),
            onnx("BitwiseAnd", new OnnxBinaryImporter(Binary.Kind.BITWISE_AND)),
            onnx("BitwiseOr", new OnnxBinaryImporter(Binary.Kind.BITWISE_OR)),
            onnx("BitwiseXor", new OnnxBinaryImporter(Binary.Kind.BITWISE_XOR)),
            onnx("PRelu", new OnnxBinaryImporter(Binary.Kind.PRELU)),
            onnx("Sum", new VariadicImporter(Binary.Kind.ADD, false)),
            onnx("Max", new VariadicImporter(Binary.Kind.MAXIMUM, false)),
            onnx("Min", new VariadicImporter(Binary.Kind.MINIMUM, false)),
            onnx("Mean", new VariadicImporter(Binary.Kind.ADD, true)));

    private static final List<OnnxRegistration> OTHERS = List.of(
            onnx("Where", OnnxElementwiseImporters::where),
            onnx("Sign", OnnxElementwiseImporters::sign),
            onnx("IsNaN", n -> n.finish(0, n.binary(Binary.Kind.NOT_EQUAL, n.arg(0), n.arg(0)), ElementType.BOOL)),
            onnx("IsInf", OnnxElementwiseImporters::isInf),
            onnx("Cast", OnnxElementwiseImporters::cast),
            onnx("BitCast", 26, OnnxElementwiseImporters::bits),
            onnx("CastLike", n -> cast(n, n.element(1))),
            onnx("OptionalGetElement", n -> n.finish(n.arg(0))),
            onnx("Identity", n -> n.finish(n.arg(0))),
            onnx("Dropout", OnnxElementwiseImporters::dropout),
            onnx("Pow", OnnxElementwiseImporters::pow),
            onnx("Mod", OnnxElementwiseImporters::mod),
            onnx("BitShift", OnnxElementwiseImporters::shift),
            onnx("BitwiseNot", OnnxElementwiseImporters::bitwiseNot));

    public static final List<OnnxRegistration> ALL = Stream.of(OTHERS, UNARY, BINARY, ActivationImporters.ALL)
            .flatMap(List::stream)
            .toList();

    private OnnxElementwiseImporters() {}

    /**
     * A function of any number of inputs, from the first to the last.
     *
     * @param isMean whether the result is divided by the number of inputs
     */
    private record VariadicImporter(Binary.Kind kind, boolean isMean) implements OnnxImporter {
        @Override
        public void emit(NodeContext node) {
            Arg value = node.arg(0);
            for (int i = 1; i < node.inputs(); i++) {
                node.require(node.element(i) == node.element(0), "its inputs have several element types", "one");
                value = WiderElements.apply(node, kind, node.element(0), value, node.arg(i));
            }
            node.finish(isMean ? node.divide(value, node.number(node.inputs(), node.dtype(value))) : value);
        }
    }

    /** A function of two elements; from version 7 on with NumPy's broadcasting. */
    private record OnnxBinaryImporter(Binary.Kind kind) implements OnnxImporter {
        private static final int NUMPY_BROADCASTING = 7;

        @Override
        public void emit(NodeContext node) {
            Arg rhs = node.arg(1);
            if (node.version() < NUMPY_BROADCASTING) {
                rhs = aligned(node, rhs);
            }
            node.require(
                    node.element(0) == node.element(1),
                    "its inputs are " + node.element(0).text() + " and "
                            + node.element(1).text(),
                    "one element type");
            node.finish(WiderElements.apply(node, kind, node.element(0), node.arg(0), rhs));
        }

        /** Before version 7, attribute {@code axis} says which dimension of the first input the second begins at; slopes are those of channels. */
        private Arg aligned(NodeContext node, Arg rhs) {
            Shape shape = node.shape(rhs);
            int rank = node.shape(0).rank();
            boolean isSlope = kind == Binary.Kind.PRELU && shape.rank() == 1 && rank > 1 && shape.dim(0) > 1;
            if (isSlope) {
                return node.reshape(rhs, ofChannels(shape.dim(0), rank));
            }
            if (!node.has("axis") || shape.rank() >= rank) {
                return rhs;
            }
            int axis = node.axis(node.whole("axis", 0), rank);
            List<Integer> dims = new ArrayList<>(shape.dims());
            dims.addAll(Collections.nCopies(Math.max(0, rank - axis - shape.rank()), 1));
            return node.reshape(rhs, dims);
        }

        private static List<Integer> ofChannels(int channels, int rank) {
            List<Integer> dims = new ArrayList<>(Collections.nCopies(rank - 1, 1));
            dims.set(0, channels);
            return dims;
        }
    }

    /** An element-wise function that is an operator of the IR. */
    record OnnxUnaryImporter(Unary.Kind kind) implements OnnxImporter {
        @Override
        public void emit(NodeContext node) {
            node.finish(node.emit(new Unary(kind), node.arg(0)));
        }
    }

    private static void where(NodeContext node) {
        node.finish(0, node.where(node.arg(0), node.arg(1), node.arg(2)), node.element(1));
    }

    private static void sign(NodeContext node) {
        DType dtype = node.dtype(node.arg(0));
        if (dtype.isWideUnsigned() || dtype == DType.UINT8) {
            node.finish(node.cast(node.cast(node.arg(0), DType.BOOL), dtype));
            return;
        }
        Arg zero = node.number(0, dtype);
        // NaN is neither above nor below 0.
        Arg rest = dtype.isFloat() ? node.where(node.equal(node.arg(0), zero), zero, node.arg(0)) : zero;
        Arg negative = node.where(node.less(node.arg(0), zero), node.number(-1, dtype), rest);
        node.finish(node.where(node.greater(node.arg(0), zero), node.number(1, dtype), negative));
    }

    private static void isInf(NodeContext node) {
        boolean negative = node.truth("detect_negative", true);
        boolean positive = node.truth("detect_positive", true);
        Arg data = negative && positive ? node.abs(node.arg(0)) : node.arg(0);
        double infinity = positive ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY;
        Arg isInf = node.equal(data, node.real(infinity));
        Arg none = node.less(data, data);
        node.finish(0, negative || positive ? isInf : none, ElementType.BOOL);
    }

    private static void cast(NodeContext node) {
        long code = node.requiredWhole("to");
        cast(node, ElementType.ofCode((int) code).orElse(ElementType.UNDEFINED));
    }

    /** Elements of float16 and bfloat16 are held in single precision, rounded by a conversion. */
    private static void cast(NodeContext node, ElementType type) {
        node.require(
                type.held().isPresent() && !type.isOfConstants(),
                "it converts to " + type.text(),
                "integers, booleans, or floats of 16 bits or more");
        node.require(
                !type.isPartOfByte(),
                "it converts to " + type.text() + ", which Kiln holds in 8 bits",
                "a conversion to int8 or uint8");
        Arg value = node.cast(node.arg(0), type.held().orElseThrow());
        node.finish(0, node.element(0) == type ? value : rounded(node, value, type), type);
    }

    /** The same bits as another type of their width. */
    private static void bits(NodeContext node) {
        ElementType from = node.element(0);
        ElementType to = ElementType.ofCode((int) node.requiredWhole("to")).orElse(ElementType.UNDEFINED);
        boolean areWhole = Stream.of(from, to)
                .allMatch(type -> type.held().isPresent()
                        && type != ElementType.BOOL
                        && 8 * type.held().get().bytes() == type.bits());
        boolean areWords = from.bits() == 16 && to.bits() == 16 && !from.isFloat() && !to.isFloat();
        node.require(
                from == to || areWords || (areWhole && from.bits() == to.bits()),
                "it turns the bits of " + from.text() + " into " + to.text(),
                "integers of one width, or float and int32 or uint32");
        DType held = to.held().orElseThrow();
        Arg value = node.arg(0);
        if (from.isFloat() != to.isFloat()) {
            value = node.emit(
                    new Reinterpret(from.isFloat() ? DType.INT32 : DType.FLOAT32),
                    from.isFloat() ? value : node.cast(value, DType.INT32));
        }
        node.finish(0, WiderElements.narrow(node, node.cast(value, held), to), to);
    }

    private static Arg rounded(Formulas e, Arg value, ElementType type) {
        return switch (type) {
            case FLOAT16 -> e.unary(Unary.Kind.ROUND_FLOAT16, value);
            case BFLOAT16 -> e.unary(Unary.Kind.ROUND_BFLOAT16, value);
            default -> WiderElements.narrow(e, value, type);
        };
    }

    /** In inference the data itself; the mask is true everywhere. */
    private static void dropout(NodeContext node) {
        if (node.has(2)) {
            boolean trains = node.constant(2, "training_mode").integer(0) != 0;
            boolean drops = !node.has(1) || node.constant(1, "ratio").real(0) != 0;
            node.require(!trains || !drops, "it drops elements at random", "a model exported for inference");
        }
        node.require(
                node.version() >= NO_TRAINING_MODE || node.truth("is_test", false),
                "it drops elements at random",
                "is_test=1, as in a model exported for inference");
        node.finish(node.arg(0));
        if (node.hasOutput(1)) {
            node.finish(1, node.broadcast(node.number(1, DType.BOOL), node.shape(0)), ElementType.BOOL);
        }
    }

    private static void pow(NodeContext node) {
        boolean isOne = node.arg(1) instanceof Constant constant && constant.elements() == 1;
        double exponent = isOne ? first((Constant) node.arg(1)) : Double.NaN;
        boolean isFloat = node.element(0).isFloat();
        if (exponent == Math.rint(exponent) && exponent >= 0 && exponent <= MOST_PRODUCTS) {
            Arg base = node.broadcast(node.arg(0), node.broadcastShape(node.shape(0), node.shape(1)));
            node.finish(WiderElements.narrow(node, whole(node, base, (int) exponent), node.element(0)));
        } else if (isFloat && exponent == 0.5) {
            node.finish(node.sqrt(node.arg(0)));
        } else if (isFloat) {
            node.finish(real(node, node.arg(0), node.cast(node.arg(1), DType.FLOAT32)));
        } else {
            powerOfIntegers(node);
        }
    }

    private static double first(Constant constant) {
        return constant.type().dtype().isFloat() ? constant.real(0) : constant.integer(0);
    }

    /** By squares. */
    private static Arg whole(Formulas e, Arg base, int exponent) {
        if (exponent == 0) {
            return e.broadcast(e.number(1, e.dtype(base)), e.shape(base));
        }
        Arg half = exponent == 1 ? base : whole(e, base, exponent / 2);
        Arg square = exponent == 1 ? base : e.multiply(half, half);
        return exponent > 1 && exponent % 2 == 1 ? e.multiply(square, base) : square;
    }

    /** Integers with computed exponents; a float power is truncated to an integer. */
    private static void powerOfIntegers(NodeContext node) {
        DType held = node.dtype(node.arg(0));
        node.require(!held.isWideUnsigned(), "its base is " + held.text(), "signed integers or floats");
        if (node.element(1).isFloat()) {
            Arg power = real(node, node.cast(node.arg(0), DType.FLOAT32), node.arg(1));
            node.finish(node.cast(node.multiply(power, 1 + ROUNDING), held));
            return;
        }
        DType wide = held == DType.INT64 ? held : DType.INT32;
        Arg power = bitwise(node, node.cast(node.arg(0), wide), node.cast(node.arg(1), wide), wide);
        node.finish(WiderElements.narrow(node, node.cast(power, held), node.element(0)));
    }

    /** Squares of the base for each bit of the exponent; beyond 63 only its lowest bit matters for -1, 0 and 1. */
    private static Arg bitwise(Formulas e, Arg base, Arg exponent, DType dtype) {
        Arg zero = e.number(0, dtype);
        Arg one = e.number(1, dtype);
        Arg magnitude = e.maximum(exponent, e.subtract(zero, exponent));
        Arg even = e.multiply(e.binary(Binary.Kind.RIGHT_SHIFT, magnitude, one), 2);
        Arg capped = e.add(e.subtract(magnitude, even), EXPONENT_CAP);
        Arg isLarge = e.greater(magnitude, e.number(EXPONENT_CAP, dtype));
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
        Arg isNegative = e.less(exponent, zero);
        return e.where(isNegative, e.divide(one, power), power);
    }

    /** The remainder with the divisor's sign, or, with {@code fmod}, with the dividend's. */
    private static void mod(NodeContext node) {
        boolean truncates = node.truth("fmod", false);
        ElementType type = node.element(0);
        Arg a = node.arg(0);
        Arg b = node.arg(1);
        if (type.isFloat()) {
            node.require(truncates, "it divides floats", "fmod=1");
            Arg rest = node.binary(Binary.Kind.FLOOR_MOD, node.abs(a), node.abs(b));
            Arg isNegative = node.less(a, node.real(0));
            node.finish(node.where(isNegative, node.negate(rest), rest));
            return;
        }
        if (type == ElementType.UINT64) {
            Arg x = node.cast(a, DType.INT64);
            Arg y = node.cast(b, DType.INT64);
            Arg whole = node.multiply(UnsignedOrder.quotient(node, x, y), y);
            node.finish(node.cast(node.subtract(x, whole), DType.UINT64));
            return;
        }
        DType wide = node.dtype(a) == DType.INT64 || node.dtype(a) == DType.UINT32 ? DType.INT64 : DType.INT32;
        Arg x = node.cast(a, wide);
        Arg y = node.cast(b, wide);
        Arg rest = node.subtract(x, node.multiply(node.divide(x, y), y));
        if (!truncates) {
            Arg zero = node.number(0, wide);
            Arg differs = node.binary(Binary.Kind.NOT_EQUAL, node.less(rest, zero), node.less(y, zero));
            Arg isRest = node.binary(Binary.Kind.NOT_EQUAL, rest, zero);
            rest = node.where(node.and(differs, isRest), node.add(rest, y), rest);
        }
        node.finish(node.cast(rest, node.dtype(a)));
    }

    private static void bitwiseNot(NodeContext node) {
        Arg ones = node.number(-1, node.dtype(node.arg(0)));
        node.finish(WiderElements.apply(node, Binary.Kind.BITWISE_XOR, node.element(0), node.arg(0), ones));
    }

    private static void shift(NodeContext node) {
        ElementType type = node.element(0);
        String direction = node.text("direction", "");
        node.require(
                direction.equals("LEFT") || direction.equals("RIGHT"),
                "its direction is `" + direction + "`",
                "LEFT or RIGHT");
        DType wide = node.dtype(node.arg(0)).isWideUnsigned() ? DType.INT64 : DType.INT32;
        Arg value = node.cast(node.arg(0), wide);
        Arg bits = node.cast(node.arg(1), wide);
        Arg shifted = direction.equals("LEFT")
                ? node.binary(Binary.Kind.LEFT_SHIFT, value, bits)
                : type == ElementType.UINT64
                        ? UnsignedOrder.shiftedRight(node, value, bits)
                        : node.binary(Binary.Kind.RIGHT_SHIFT, value, bits);
        node.finish(WiderElements.narrow(node, node.cast(shifted, node.dtype(node.arg(0))), type));
    }

    /** {@code exp(y * log(|x|))}, with the sign of an odd power; NaN for a negative base with a fraction. */
    public static Arg real(Formulas e, Arg x, Arg y) {
        Arg zero = e.real(0);
        Arg one = e.real(1);
        Arg magnitude = e.exp(e.multiply(y, e.log(e.abs(x))));
        Arg nan = e.real(Double.NaN);
        if (y instanceof Constant constant && areFractions(constant)) {
            return e.where(e.less(x, zero), nan, magnitude);
        }
        Arg half = e.multiply(y, 0.5);
        Arg isOdd = e.binary(Binary.Kind.NOT_EQUAL, e.unary(Unary.Kind.FLOOR, half), half);
        Arg isWhole = e.equal(e.unary(Unary.Kind.FLOOR, y), y);
        Arg sign = e.where(isWhole, e.where(isOdd, e.real(-1), one), nan);
        Arg signed = e.where(e.less(x, zero), e.multiply(magnitude, sign), magnitude);
        return e.where(e.equal(y, zero), one, signed);
    }

    private static boolean areFractions(Constant exponents) {
        return IntStream.range(0, exponents.elements()).allMatch(i -> {
            float exponent = exponents.real(i);
            return Float.isFinite(exponent) && Math.rint(exponent) != exponent;
        });
    }

    /** Functions of integers for which the IR has no operator: computed in a wider type, and narrowed again. */
    static final class WiderElements {
        /** Functions that the IR lacks for integers of less than 32 bits. */
        private static final Set<Binary.Kind> NEVER_SHORT = Set.of(
                Binary.Kind.DIVIDE,
                Binary.Kind.PRELU,
                Binary.Kind.BITWISE_AND,
                Binary.Kind.BITWISE_OR,
                Binary.Kind.BITWISE_XOR);

        private WiderElements() {}

        /**
         * A function of two elements of a model's type. Sums, differences and products wrap around in that type.
         *
         * @param type element type of both in the model
         */
        static Arg apply(Formulas e, Binary.Kind kind, ElementType type, Arg lhs, Arg rhs) {
            DType held = e.dtype(lhs);
            if (held == DType.UINT64) {
                return ofLongs(e, kind, lhs, rhs);
            }
            if (held.isFloat()) {
                return e.binary(orNan(kind), lhs, rhs);
            }
            DType wide = wide(kind, type);
            Arg result = e.binary(kind, e.cast(lhs, wide), e.cast(rhs, wide));
            if (kind.isComparison()) {
                return result;
            }
            return narrow(e, e.cast(result, held), type);
        }

        /** ONNX Runtime's extremes of two floats are NaN if either is. */
        private static Binary.Kind orNan(Binary.Kind kind) {
            return switch (kind) {
                case MAXIMUM -> Binary.Kind.MAXIMUM_OR_NAN;
                case MINIMUM -> Binary.Kind.MINIMUM_OR_NAN;
                default -> kind;
            };
        }

        private static Arg ofLongs(Formulas e, Binary.Kind kind, Arg lhs, Arg rhs) {
            boolean isOrder = kind.isComparison() || kind == Binary.Kind.MAXIMUM || kind == Binary.Kind.MINIMUM;
            if (isOrder) {
                Arg result = e.binary(kind, UnsignedOrder.ordered(e, lhs), UnsignedOrder.ordered(e, rhs));
                return kind.isComparison() ? result : UnsignedOrder.original(e, result, DType.UINT64);
            }
            Arg a = e.cast(lhs, DType.INT64);
            Arg b = e.cast(rhs, DType.INT64);
            return e.cast(
                    kind == Binary.Kind.DIVIDE ? UnsignedOrder.quotient(e, a, b) : e.binary(kind, a, b), DType.UINT64);
        }

        private static DType wide(Binary.Kind kind, ElementType type) {
            DType held = type.held().orElseThrow();
            boolean wraps = kind == Binary.Kind.ADD || kind == Binary.Kind.SUBTRACT || kind == Binary.Kind.MULTIPLY;
            return switch (held) {
                case UINT8 -> wraps ? held : DType.INT32;
                case INT8, INT16 -> NEVER_SHORT.contains(kind) ? DType.INT32 : held;
                case UINT32 -> DType.INT64;
                default -> held;
            };
        }

        /** Elements of uint16 are held in 32 bits. */
        static Arg narrow(Formulas e, Arg value, ElementType type) {
            if (type != ElementType.UINT16) {
                return value;
            }
            Arg half = e.number(Short.SIZE, DType.INT32);
            Arg high = e.binary(Binary.Kind.LEFT_SHIFT, value, half);
            Arg longer = e.cast(e.cast(high, DType.UINT32), DType.INT64);
            return e.cast(e.binary(Binary.Kind.RIGHT_SHIFT, longer, e.number(Short.SIZE, DType.INT64)), DType.INT32);
        }
    }
}
