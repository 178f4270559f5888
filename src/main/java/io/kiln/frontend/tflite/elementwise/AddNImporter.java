// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operand.QuantizationRules;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TensorQuantization;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.TflAddN;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** ADD_N: a chain of additions for float32, one operator for int8 (micro/kernels/add_n.cc). */
final class AddNImporter implements OperatorImporter {
    @Override
    public void emit(OperatorContext operator) {
        List<TfliteTensor> inputs = IntStream.range(0, operator.inputCount())
                .mapToObj(operator::input)
                .toList();
        operator.require(inputs.size() >= 2, "it has " + inputs.size() + " inputs", "2 or more", "");
        operator.check();
        TfliteTensor first = inputs.get(0);
        OperandTypes.require(operator, Set.of(FLOAT32, INT8), operator.output());
        for (TfliteTensor input : inputs) {
            operator.require(
                    input.type().equals(first.type())
                            && input.dtype() == operator.output().dtype(),
                    input.text() + " does not fit " + first.text(),
                    "tensors of one shape and type",
                    "Export the model again");
        }
        operator.check();
        List<Arg> values = inputs.stream().map(operator::value).toList();
        operator.finish(
                first.dtype().isFloat()
                        ? values.stream()
                                .reduce((a, b) -> operator.emit(new Binary(Binary.Kind.ADD), a, b))
                                .orElseThrow()
                        : quantized(operator, inputs, values));
    }

    private static Arg quantized(OperatorContext operator, List<TfliteTensor> inputs, List<Arg> values) {
        inputs.forEach(input -> OperandTypes.requireScales(operator, input));
        OperandTypes.requireScales(operator, operator.output());
        operator.check();
        TensorQuantization in = inputs.get(0).quantization();
        for (TfliteTensor input : inputs) {
            QuantizationRules.requireEqual(operator, inputs.get(0), input);
        }
        operator.require(
                inputs.size() <= TflAddN.MOST,
                "it has " + inputs.size() + " inputs",
                "at most " + TflAddN.MOST + " of int8, whose sum fits into 32 bits",
                "Add the tensors in several steps");
        TensorQuantization out = operator.output().quantization();
        double real = 2 * (double) in.scale(0) / ((1 << 20) * (double) out.scale(0));
        operator.require(
                real < 1,
                "the scales " + in.scale(0) + " and " + out.scale(0) + " are too far apart",
                "scales that the reference kernel's fixed point can represent",
                "Quantize the model again");
        operator.check();
        TflAddN op = new TflAddN(inputs.size(), in.zeroPoint(), out.zeroPoint(), QuantizedMultiplier.of(real));
        return operator.emit(op, values.toArray(Arg[]::new));
    }
}
