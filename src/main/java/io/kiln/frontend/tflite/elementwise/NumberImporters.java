// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.BOOL;
import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.INT8;
import static io.kiln.base.DType.UINT32;
import static io.kiln.base.DType.UINT8;
import static io.kiln.frontend.tflite.operator.Registration.builtin;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.operand.Requantizing;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions.Bucketize;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.frontend.tflite.tensor.TfliteTensor.TensorQuantization;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Functions of numbers whose integers have no scales, or keep theirs; conversions to and from quantized elements; and functions that TensorFlow Lite
 * runs under StableHLO's names.
 */
public final class NumberImporters {
    private static final Set<DType> INTEGERS = Set.of(DType.INT8, DType.INT16, DType.INT32, DType.INT64);
    private static final Set<DType> WORDS = Set.of(DType.FLOAT32, DType.INT32, DType.UINT32);
    private static final int MOST_BOUNDARIES = 4096;

    private static final int LAST_AXIS = -1;
    /** Type pairs supported by the reference kernel. */
    private static final Map<DType, Set<DType>> PAIRS = Map.of(
            FLOAT32, Set.of(INT8, INT16),
            INT32, Set.of(INT8, INT16),
            INT16, Set.of(INT8, INT16, INT32),
            INT8, Set.of(INT8, UINT8, INT16, INT32),
            UINT8, Set.of(INT8));

    private static final Set<DType> CASTABLE = Set.of(INT8, UINT8, INT16, INT32, UINT32, INT64, FLOAT32, BOOL);

    public static final List<Registration> ALL = List.of(
            builtin(BuiltinOperator.NEG, 2, NumberImporters::negative),
            builtin(BuiltinOperator.SIGN, 2, NumberImporters::sign),
            builtin(BuiltinOperator.POW, 2, NumberImporters::power),
            builtin(BuiltinOperator.ATAN2, 1, NumberImporters::angle),
            builtin(BuiltinOperator.BITWISE_XOR, 1, operator -> bits(operator, Binary.Kind.BITWISE_XOR)),
            builtin(BuiltinOperator.RIGHT_SHIFT, 1, operator -> bits(operator, Binary.Kind.RIGHT_SHIFT)),
            builtin(BuiltinOperator.CAST, 6, NumberImporters::cast),
            builtin(BuiltinOperator.QUANTIZE, 4, NumberImporters::quantize).uint8AsHeld(),
            builtin(BuiltinOperator.DEQUANTIZE, 6, NumberImporters::dequantize).uint8AsHeld(),
            builtin(BuiltinOperator.STABLEHLO_ADD, 1, operator -> stablehlo(operator, Binary.Kind.ADD)),
            builtin(BuiltinOperator.STABLEHLO_MULTIPLY, 1, operator -> stablehlo(operator, Binary.Kind.MULTIPLY)),
            builtin(BuiltinOperator.STABLEHLO_MAXIMUM, 1, operator -> stablehlo(operator, Binary.Kind.MAXIMUM)),
            builtin(BuiltinOperator.STABLEHLO_MINIMUM, 1, operator -> stablehlo(operator, Binary.Kind.MINIMUM)),
            builtin(BuiltinOperator.STABLEHLO_AND, 1, NumberImporters::and),
            builtin(BuiltinOperator.STABLEHLO_SHIFT_LEFT, 1, NumberImporters::shift),
            builtin(BuiltinOperator.BITCAST, 1, NumberImporters::bitcast),
            builtin(BuiltinOperator.BUCKETIZE, 1, NumberImporters::bucketize),
            builtin(BuiltinOperator.RANK, 1, NumberImporters::rank));

    private NumberImporters() {}

    /** CAST; the types that its options repeat are ignored. */
    private static void cast(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        operator.requireTypes(CASTABLE, data);
        operator.checkTypes(CASTABLE, output);
        operator.finish(operator.cast(operator.value(data), output.dtype()));
    }

    /** NEG; quantized integers are negated as they are (neg.cc), which is right only if the zero points are opposite. */
    private static void negative(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        operator.checkTypes(Set.of(FLOAT32, INT8, INT16, INT32, INT64), data, output);
        boolean isScaled = data.hasQuantizedType()
                && data.quantization().isPresent()
                && output.quantization().isPresent();
        if (isScaled) {
            operator.checkScales(data, output);
            operator.requireThat(
                    data.quantization().scale(0) == output.quantization().scale(0)
                            && data.quantization().zeroPoint()
                                    == -output.quantization().zeroPoint(),
                    "TensorFlow Lite negates the integers as they are, and from " + text(data) + " to " + text(output)
                            + " that gives another number",
                    "one scale, and zero points that are opposite",
                    "Multiply by -1 in its place, or keep the operator float32");
        }
        Formulas f = operator;
        Arg value = operator.value(data);
        operator.finish(data.dtype().isFloat() ? f.negate(value) : f.subtract(f.number(0, data.dtype()), value));
    }

    private static String text(TfliteTensor tensor) {
        return "scale " + tensor.quantization().scale(0) + " and zero point "
                + tensor.quantization().zeroPoint();
    }

    /** SIGN of float32 and int32: 1, -1 or 0; 0 for NaN, as in TensorFlow Lite 2.20. */
    private static void sign(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        operator.checkTypes(Set.of(FLOAT32, INT32), data, operator.output());
        Formulas f = operator;
        Arg value = operator.value(data);
        DType dtype = data.dtype();
        Arg zero = f.number(0, dtype);
        Arg below = f.where(f.less(value, zero), f.number(-1, dtype), zero);
        operator.finish(f.where(f.greater(value, zero), f.number(1, dtype), below));
    }

    /** POW; the reference kernel fails for negative exponents of integers. */
    private static void power(OperatorContext operator) {
        TfliteTensor exponent = operator.input(1);
        operator.checkTypes(Set.of(FLOAT32, INT32), operator.input(0), exponent, operator.output());
        if (exponent.dtype() == INT32 && exponent.isConstant()) {
            Constant exponents = operator.constant(exponent);
            operator.requireThat(
                    IntStream.range(0, exponents.elements()).allMatch(i -> exponents.integer(i) >= 0),
                    "an exponent is negative",
                    "exponents of 0 or more for int32",
                    "Compute the power with floats");
        }
        binary(operator, Binary.Kind.POWER);
    }

    /** ATAN2 of an ordinate and an abscissa. */
    private static void angle(OperatorContext operator) {
        operator.checkTypes(Set.of(FLOAT32), operator.input(0), operator.input(1), operator.output());
        binary(operator, Binary.Kind.ATAN2);
    }

    /** Functions of the bits of int32 and int64. */
    private static void bits(OperatorContext operator, Binary.Kind kind) {
        TfliteTensor data = operator.input(0);
        operator.checkTypes(Set.of(INT8, UINT8, INT16, INT32, UINT32), data, operator.input(1), operator.output());
        Formulas f = operator;
        DType wide = data.dtype() == UINT32 ? INT64 : INT32;
        Arg lhs = f.cast(operator.value(data), wide);
        Arg rhs = f.cast(operator.value(1), wide);
        operator.finish(f.cast(f.binary(kind, lhs, rhs), data.dtype()));
    }

    private static void binary(OperatorContext operator, Binary.Kind kind) {
        operator.finish(operator.binary(kind, operator.value(0), operator.value(1)));
    }

    /** QUANTIZE: from float32, or from one scale to another (micro/kernels/quantize_common.cc). */
    private static void quantize(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        Set<DType> targets = PAIRS.getOrDefault(data.dtype(), Set.of());
        operator.require(
                targets.contains(output.dtype()),
                "from " + data.dtype().text() + " to " + output.dtype().text() + " is not supported",
                targets.isEmpty()
                        ? "data of " + OperatorContext.text(PAIRS.keySet())
                        : "from " + data.dtype().text() + " to " + OperatorContext.text(targets),
                "Convert the model with int8 or float32 inputs and outputs");
        operator.requireScales(output);
        if (!data.dtype().isFloat()) {
            operator.requireScales(data);
        }
        operator.check();
        requireZeroPoints(operator, data, output);
        operator.check();
        operator.finish(data.dtype().isFloat() ? ofReals(operator, data, output) : rescale(operator, data, output));
    }

    /** Other zero points would overflow 32 bits. */
    private static void requireZeroPoints(OperatorContext operator, TfliteTensor... tensors) {
        for (TfliteTensor tensor : tensors) {
            if (tensor.dtype() == INT32) {
                operator.require(
                        tensor.quantization().zeroPoint() == 0,
                        "`" + tensor.name() + "` is int32 with zero point "
                                + tensor.quantization().zeroPoint(),
                        "zero point 0",
                        "Quantize the model again");
            }
        }
    }

    private static Arg ofReals(OperatorContext operator, TfliteTensor data, TfliteTensor output) {
        return operator.emit(new QnnQuantize(output.dtype()), operator.value(data), output.scale(), output.zeroPoint());
    }

    private static Arg rescale(OperatorContext operator, TfliteTensor data, TfliteTensor output) {
        TensorQuantization from = data.quantization();
        double multiplier = (double) from.scale(0) / output.quantization().scale(0);
        return Requantizing.rescale(
                operator, operator.value(data), LAST_AXIS, from.zeroPoint(), 1, index -> multiplier);
    }

    /** DEQUANTIZE to float32; constants of float16 already are float32, and those with a scale for each channel become constants. */
    private static void dequantize(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        if (data.dtype() == FLOAT32 && data.isConstant()) {
            operator.finish(operator.constant(data));
            return;
        }
        operator.requireTypes(Set.of(INT8, INT16, UINT8), data);
        operator.checkTypes(Set.of(FLOAT32), operator.output());
        boolean isPerChannel =
                data.quantization().isPresent() && !data.quantization().isPerTensor();
        if (isPerChannel && data.isConstant()) {
            operator.finish(ofChannels(operator, data));
            return;
        }
        operator.checkScales(data);
        operator.finish(new QnnDequantize(), operator.value(data), data.scale(), data.zeroPoint());
    }

    /** {@code scale[c] * (element - zeroPoint[c])} in single precision (reference_ops::PerChannelDequantize). */
    private static Constant ofChannels(OperatorContext operator, TfliteTensor data) {
        Constant elements = operator.constant(data);
        operator.spend(4L * elements.elements());
        TensorQuantization quantization = data.quantization();
        Shape shape = data.shape();
        int channels = shape.dim(quantization.dimension());
        long behind = shape.dims().subList(quantization.dimension() + 1, shape.rank()).stream()
                .mapToLong(dim -> dim)
                .reduce(1, (a, b) -> a * b);
        return Constant.reals("", shape, i -> {
            int channel = (int) (i / behind % channels);
            return quantization.scale(channel) * (elements.integer(i) - quantization.zeroPoint(channel));
        });
    }

    /** Integers are numbers without scales, which wrap around. */
    private static void stablehlo(OperatorContext operator, Binary.Kind kind) {
        Set<DType> types = new HashSet<>(INTEGERS);
        types.add(DType.FLOAT32);
        requireOperands(operator, types);
        operator.finish(operator.binary(kind, operator.value(0), operator.value(1)));
    }

    private static void requireOperands(OperatorContext operator, Set<DType> types) {
        operator.requireTypes(types, operator.input(0), operator.input(1), operator.output());
        Shape shape = operator.outputShape(operator.input(0)::shape);
        for (int i = 0; i < 2; i++) {
            operator.require(
                    !operator.input(i).quantization().isPresent()
                            && operator.input(i).shape().equals(shape),
                    operator.input(i).text() + " is quantized or has another shape than the result",
                    "operands of the result's shape, without scales",
                    "Convert to TensorFlow Lite's own operators");
        }
        operator.check();
    }

    private static void and(OperatorContext operator) {
        requireOperands(operator, Set.of(DType.BOOL, DType.INT8, DType.INT16, DType.INT32, DType.INT64));
        DType dtype = operator.output().dtype();
        if (dtype == DType.BOOL) {
            operator.finish(operator.binary(Binary.Kind.LOGICAL_AND, operator.value(0), operator.value(1)));
            return;
        }
        inWords(operator, Binary.Kind.BITWISE_AND);
    }

    private static void shift(OperatorContext operator) {
        requireOperands(operator, Set.of(DType.INT8, DType.INT16, DType.INT32));
        inWords(operator, Binary.Kind.LEFT_SHIFT);
    }

    private static void inWords(OperatorContext operator, Binary.Kind kind) {
        Formulas f = operator;
        DType dtype = operator.output().dtype();
        DType wide = dtype == DType.INT64 ? DType.INT64 : DType.INT32;
        Arg lhs = f.cast(operator.value(0), wide);
        Arg rhs = f.cast(operator.value(1), wide);
        operator.finish(f.cast(f.binary(kind, lhs, rhs), dtype));
    }

    /** The same bits as a type of the same width. */
    private static void bitcast(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        DType from = data.dtype();
        DType to = operator.output().dtype();
        boolean areWords = WORDS.contains(from) && WORDS.contains(to);
        operator.requireThat(
                areWords || (from.isInteger() && to.isInteger() && from.bytes() == to.bytes()),
                "it makes " + to.text() + " of the bits of " + data.text(),
                "types of one width",
                "Export the model without the operator");
        Formulas f = operator;
        Arg value = operator.value(data);
        if (from.isFloat() != to.isFloat()) {
            Arg word = f.reinterpret(
                    from == DType.UINT32 ? f.cast(value, DType.INT32) : value, to.isFloat() ? to : DType.INT32);
            operator.finish(f.cast(word, to));
            return;
        }
        operator.finish(f.cast(value, to));
    }

    /** How many boundaries each element reaches. */
    private static void bucketize(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        operator.requireTypes(Set.of(DType.FLOAT32, DType.INT32), data);
        operator.checkTypes(Set.of(DType.INT32), operator.output());
        float[] boundaries = operator.requiredOptions(Bucketize.TYPE)
                .get(Bucketize.BOUNDARIES)
                .reals();
        operator.requireThat(
                boundaries.length > 0 && boundaries.length <= MOST_BOUNDARIES,
                "it has " + boundaries.length + " boundaries",
                "1 to " + MOST_BOUNDARIES);
        Formulas f = operator;
        int rank = data.shape().rank();
        Arg column = f.reshape(
                f.cast(operator.value(data), DType.FLOAT32), data.shape().inserted(rank));
        Arg reached = f.binary(Binary.Kind.GREATER_EQUAL, column, f.reals(boundaries, Shape.of(boundaries.length)));
        Arg counts = f.reduce(Reduce.Kind.SUM, f.cast(reached, DType.INT32), List.of(rank));
        operator.finish(f.reshape(counts, data.shape()));
    }

    private static void rank(OperatorContext operator) {
        operator.checkTypes(Set.of(DType.INT32), operator.output());
        operator.finish(operator.number(operator.input(0).shape().rank(), DType.INT32));
    }
}
