// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.layer;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.ARG_MAX;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.ARG_MIN;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.TOPK_V2;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.operand.ConstantParameters;
import io.kiln.frontend.tflite.operand.ElementTypes;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operand.QuantizationRules;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Topk;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.Set;

/** Operators that order elements: ARG_MAX, ARG_MIN and TOPK_V2. */
public final class OrderImporters {
    private static final Set<DType> INDEX = Set.of(DType.INT32, DType.INT64);

    public static final List<Registration> ALL = List.of(
            builtin(ARG_MAX, 3, operator -> index(operator, true)).uint8AsInt8(),
            builtin(ARG_MIN, 3, operator -> index(operator, false)).uint8AsInt8(),
            builtin(TOPK_V2, 3, OrderImporters::largest).uint8AsInt8());

    private OrderImporters() {}

    private static void index(OperatorContext operator, boolean largest) {
        TfliteTensor data = operator.input(0);
        OperandTypes.require(operator, Set.of(DType.FLOAT32, DType.INT8, DType.INT32, DType.BOOL), data);
        operator.require(
                INDEX.contains(operator.output().dtype()),
                "the output is " + operator.output().dtype().text(),
                OperandTypes.text(INDEX),
                "Ask for output_type int32");
        operator.check();
        int axis = ConstantParameters.axis(
                operator, operator.input(1), data.shape().rank());
        Formulas f = new Formulas(operator);
        Arg value = data.dtype() == DType.BOOL ? f.cast(operator.value(data), DType.INT8) : operator.value(data);
        Arg index = operator.emit(new ArgReduce(largest, axis), value);
        Arg result = f.cast(index, operator.output().dtype());
        Shape stated = operator.outputShape(() -> operator.type(result).shape());
        boolean scalar =
                stated.elements() == 1 && !stated.equals(operator.type(result).shape());
        operator.finish(scalar ? operator.emit(new Reshape(stated), result) : result);
    }

    /** The largest elements of each vector and their places; equal ones in the order of their places (topk_v2.cc). */
    private static void largest(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor number = operator.input(1);
        List<TfliteTensor> outputs = operator.outputs();
        operator.require(outputs.size() == 2, "it has " + outputs.size() + " outputs", "values and indices", "");
        operator.require(data.shape().rank() > 0, "its data is a scalar", "one dimension or more", "");
        operator.require(
                Set.of(DType.INT32, DType.INT16).contains(number.dtype())
                        && number.shape().elements() == 1,
                "k is " + number.text(),
                "one int32 or int16",
                "Export the model again");
        ElementTypes.requireConstant(operator, "k", number);
        operator.check();
        OperandTypes.require(
                operator,
                Set.of(DType.FLOAT32, DType.INT8, DType.INT16, DType.INT32, DType.INT64),
                data,
                outputs.get(0));
        OperandTypes.require(operator, Set.of(DType.INT32, DType.INT16), outputs.get(1));
        int size = data.shape().dim(-1);
        long k = operator.constant(number).integer(0);
        operator.require(k >= 1 && k <= size, "k is " + k, "1 to " + size, "Export the model again");
        operator.check();
        if (OperandTypes.isQuantized(data.dtype()) && data.quantization().isPresent()) {
            QuantizationRules.requireEqual(operator, data, outputs.get(0));
            operator.check();
        }
        Formulas f = new Formulas(operator);
        Shape shape = data.shape();
        Arg value = operator.value(data);
        Arg indices = operator.emit(new Topk((int) k, false), ordered(f, value));
        int rows = Math.toIntExact(shape.elements() / size);
        Arg flat = f.reshape(value, Shape.of(rows * size));
        Arg first = f.places(Shape.of(rows, 1), row -> row * size);
        Arg places = f.add(f.reshape(indices, Shape.of(rows, (int) k)), first);
        Arg values = f.reshape(f.take(flat, places, 0), f.shape(indices));
        operator.finish(outputs.get(0), values);
        operator.finish(outputs.get(1), f.cast(indices, outputs.get(1).dtype()));
    }

    /** Floats as integers in their order, so that those that are no numbers come last; 0 and -0 are equal. */
    private static Arg ordered(Formulas f, Arg value) {
        if (!f.dtype(value).isFloat()) {
            return value;
        }
        Arg bits = f.reinterpret(f.add(value, 0), DType.INT32);
        Arg mirrored = f.binary(Binary.Kind.BITWISE_XOR, bits, f.number(Integer.MAX_VALUE, DType.INT32));
        Arg key = f.where(f.binary(Binary.Kind.LESS, bits, f.number(0, DType.INT32)), mirrored, bits);
        Arg isNumber = f.binary(Binary.Kind.EQUAL, value, value);
        return f.where(isNumber, key, f.number(Integer.MIN_VALUE, DType.INT32));
    }
}
