// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.custom;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.CustomOperator;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.frontend.tflite.tensor.TfliteTensor.TensorQuantization;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * An operator computed by a C function of the user. Results after the first are variables, because a binding has one
 * result.
 */
public record CustomImporter(CustomOperator custom) implements OperatorImporter {
    @Override
    public void emit(OperatorContext operator) {
        int inputs = operator.inputCount();
        List<TfliteTensor> outputs = operator.outputs();
        operator.require(inputs > 0 && !outputs.isEmpty(), "it has no inputs or no outputs", "one of each", "");
        for (int i = 0; i < inputs; i++) {
            operator.require(
                    operator.optionalInput(i).isPresent(),
                    "input " + i + " is missing",
                    "an operator with all inputs",
                    "");
        }
        operator.requireThat(
                custom.shapeInput().orElse(0) < inputs,
                "its outputs are to have the shape of " + custom.shape() + ", but it has " + inputs + " inputs",
                "one of input0 to input" + (inputs - 1),
                "Correct <shape> in kiln.customOperators");
        List<TensorType> types = outputs.stream().map(o -> type(operator, o)).toList();
        checkSignature(operator, types);
        List<Arg> args = new ArrayList<>();
        IntStream.range(0, inputs).forEach(i -> args.add(operator.value(i)));
        Bytes options = operator.operator().customOptions();
        args.addAll(passed(operator, options));
        for (int i = 1; i < types.size(); i++) {
            Arg.Ref result = operator.graph().variable(outputs.get(i).name(), types.get(i));
            args.add(result);
            operator.values().define(outputs.get(i).index(), result);
        }
        CustomCall call = new CustomCall(
                custom.code(),
                custom.function(),
                custom.header(),
                inputs,
                types.size(),
                types.get(0),
                custom.passesQuantization(),
                custom.passesOptions() ? options.size() : -1);
        operator.values().define(outputs.get(0).index(), operator.emit(call, args.toArray(Arg[]::new)));
    }

    /**
     * The function's arguments after the tensors. C has no empty tables: missing options are passed as one byte with a
     * size of 0.
     */
    private List<Arg> passed(OperatorContext operator, Bytes options) {
        List<Arg> passed = new ArrayList<>();
        if (custom.passesQuantization()) {
            List<TfliteTensor> tensors = new ArrayList<>();
            IntStream.range(0, operator.inputCount()).forEach(i -> tensors.add(operator.input(i)));
            tensors.addAll(operator.outputs());
            float[] scales = new float[tensors.size()];
            int[] zeroPoints = new int[tensors.size()];
            for (int i = 0; i < scales.length; i++) {
                TensorQuantization quantization = tensors.get(i).quantization();
                if (quantization.isPresent()) {
                    operator.requireScales(tensors.get(i));
                    scales[i] = quantization.scale(0);
                    zeroPoints[i] = quantization.zeroPoint(0);
                }
            }
            operator.check();
            passed.add(Constant.vector(scales));
            passed.add(Constant.vector(zeroPoints));
        }
        if (custom.passesOptions()) {
            Bytes bytes = options.size() > 0 ? options : Bytes.wrap(new byte[1]);
            passed.add(new Constant("options", new TensorType(Shape.of(bytes.size()), DType.UINT8), bytes));
        }
        return passed;
    }

    private TensorType type(OperatorContext operator, TfliteTensor output) {
        if (custom.shapeInput().isPresent()) {
            return new TensorType(operator.input(custom.shapeInput().get()).shape(), output.dtype());
        }
        String next = "Set <shape> of `" + custom.code() + "` in kiln.customOperators";
        operator.require(
                !custom.shape().isEmpty() || !operator.infersShape(),
                "kiln.inputShapes changes shapes, and that of its output is only in the file",
                "a shape that follows from the inputs'",
                next);
        Shape shape = custom.shape().isEmpty()
                ? output.shape()
                : new Shape(Stream.of(custom.shape().split(","))
                        .map(dim -> Integer.valueOf(dim.strip()))
                        .toList());
        operator.requireThat(
                shape.elements() > 0,
                "its output " + output.text() + " has no elements",
                "a shape that the model states",
                next);
        return new TensorType(shape, output.dtype());
    }

    /** C has one declaration for a function, even if it computes several operators. */
    private void checkSignature(OperatorContext operator, List<TensorType> outputs) {
        String signature = Stream.concat(
                                IntStream.range(0, operator.inputCount())
                                        .mapToObj(i -> "const "
                                                + operator.input(i).dtype().cName() + "*"),
                                outputs.stream().map(type -> type.dtype().cName() + "*"))
                        .collect(Collectors.joining(", "))
                + (custom.passesQuantization() ? ", const float*, const int32_t*" : "")
                + (custom.passesOptions() ? ", const uint8_t*, int32_t" : "");
        String first = operator.declare(custom.function(), signature);
        operator.requireThat(
                first.equals(signature),
                "its tensors need " + custom.function() + "(" + signature + "), those of an earlier operator for "
                        + custom.function() + "(" + first + ")",
                "tensors of the same types wherever a function is called",
                "Give the operators different codes, each with its own function");
    }
}
