// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.BITCAST;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.BUCKETIZE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.RANK;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_ADD;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_AND;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_MAXIMUM;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_MINIMUM;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_MULTIPLY;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_SHIFT_LEFT;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.ElementwiseOptions.Bucketize;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Functions of elements that TensorFlow Lite runs under StableHLO's names, and plain ones of few models: BITCAST, BUCKETIZE, RANK. */
public final class StablehloImporters {
    private static final Set<DType> INTEGERS = Set.of(DType.INT8, DType.INT16, DType.INT32, DType.INT64);
    private static final Set<DType> WORDS = Set.of(DType.FLOAT32, DType.INT32, DType.UINT32);
    private static final int MOST_BOUNDARIES = 4096;

    public static final List<Registration> ALL = List.of(
            builtin(STABLEHLO_ADD, 1, operator -> binary(operator, Binary.Kind.ADD)),
            builtin(STABLEHLO_MULTIPLY, 1, operator -> binary(operator, Binary.Kind.MULTIPLY)),
            builtin(STABLEHLO_MAXIMUM, 1, operator -> binary(operator, Binary.Kind.MAXIMUM)),
            builtin(STABLEHLO_MINIMUM, 1, operator -> binary(operator, Binary.Kind.MINIMUM)),
            builtin(STABLEHLO_AND, 1, StablehloImporters::and),
            builtin(STABLEHLO_SHIFT_LEFT, 1, StablehloImporters::shift),
            builtin(BITCAST, 1, StablehloImporters::bitcast),
            builtin(BUCKETIZE, 1, StablehloImporters::bucketize),
            builtin(RANK, 1, StablehloImporters::rank));

    private StablehloImporters() {}

    /** Integers are numbers without scales, which wrap around. */
    private static void binary(OperatorContext operator, Binary.Kind kind) {
        Set<DType> types = new HashSet<>(INTEGERS);
        types.add(DType.FLOAT32);
        requireOperands(operator, types);
        operator.finish(new Formulas(operator)
                .binary(kind, operator.value(operator.input(0)), operator.value(operator.input(1))));
    }

    private static void requireOperands(OperatorContext operator, Set<DType> types) {
        OperandTypes.require(operator, types, operator.input(0), operator.input(1), operator.output());
        Shape shape = operator.outputShape(() -> shape(operator, 0));
        for (int i = 0; i < 2; i++) {
            operator.require(
                    !operator.input(i).quantization().isPresent()
                            && shape(operator, i).equals(shape),
                    operator.input(i).text() + " is quantized or has another shape than the result",
                    "operands of the result's shape, without scales",
                    "Convert to TensorFlow Lite's own operators");
        }
        operator.check();
    }

    /** Of an operand as it is computed, which is another one than in the file if shapes are inferred. */
    private static Shape shape(OperatorContext operator, int input) {
        return operator.type(operator.value(operator.input(input))).shape();
    }

    private static void and(OperatorContext operator) {
        requireOperands(operator, Set.of(DType.BOOL, DType.INT8, DType.INT16, DType.INT32, DType.INT64));
        DType dtype = operator.output().dtype();
        if (dtype == DType.BOOL) {
            operator.finish(new Formulas(operator)
                    .binary(
                            Binary.Kind.LOGICAL_AND,
                            operator.value(operator.input(0)),
                            operator.value(operator.input(1))));
            return;
        }
        inWords(operator, Binary.Kind.BITWISE_AND);
    }

    private static void shift(OperatorContext operator) {
        requireOperands(operator, Set.of(DType.INT8, DType.INT16, DType.INT32));
        inWords(operator, Binary.Kind.LEFT_SHIFT);
    }

    private static void inWords(OperatorContext operator, Binary.Kind kind) {
        Formulas f = new Formulas(operator);
        DType dtype = operator.output().dtype();
        DType wide = dtype == DType.INT64 ? DType.INT64 : DType.INT32;
        Arg lhs = f.cast(operator.value(operator.input(0)), wide);
        Arg rhs = f.cast(operator.value(operator.input(1)), wide);
        operator.finish(f.cast(f.binary(kind, lhs, rhs), dtype));
    }

    /** The same bits as a type of the same width. */
    private static void bitcast(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        DType from = data.dtype();
        DType to = operator.output().dtype();
        boolean areWords = WORDS.contains(from) && WORDS.contains(to);
        operator.require(
                areWords || (from.isInteger() && to.isInteger() && from.bytes() == to.bytes()),
                "it makes " + to.text() + " of the bits of " + data.text(),
                "types of one width",
                "Export the model without the operator");
        operator.check();
        Formulas f = new Formulas(operator);
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
        OperandTypes.require(operator, Set.of(DType.FLOAT32, DType.INT32), data);
        OperandTypes.require(operator, Set.of(DType.INT32), operator.output());
        operator.check();
        float[] boundaries = operator.requiredOptions(Bucketize.TYPE)
                .get(Bucketize.BOUNDARIES)
                .reals();
        operator.require(
                boundaries.length > 0 && boundaries.length <= MOST_BOUNDARIES,
                "it has " + boundaries.length + " boundaries",
                "1 to " + MOST_BOUNDARIES,
                "Export the model again");
        operator.check();
        Formulas f = new Formulas(operator);
        List<Integer> dims = new ArrayList<>(data.shape().dims());
        dims.add(1);
        Arg column = f.reshape(f.cast(operator.value(data), DType.FLOAT32), new Shape(dims));
        Arg reached = f.binary(Binary.Kind.GREATER_EQUAL, column, f.reals(boundaries, Shape.of(boundaries.length)));
        Arg counts = f.reduce(Reduce.Kind.SUM, f.cast(reached, DType.INT32), List.of(dims.size() - 1));
        operator.finish(f.reshape(counts, data.shape()));
    }

    private static void rank(OperatorContext operator) {
        OperandTypes.require(operator, Set.of(DType.INT32), operator.output());
        operator.check();
        operator.finish(new Formulas(operator).number(operator.input(0).shape().rank(), DType.INT32));
    }
}
