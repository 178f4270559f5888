// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operand.Requantizing;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.schema.ElementwiseOptions;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.arith.table.TflActivations;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.TflLeakyRelu;
import java.util.Set;

/** LEAKY_RELU; multipliers in single precision (leaky_relu_common.cc). */
final class LeakyReluImporter implements OperatorImporter {
    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        float alpha =
                operator.requiredOptions(ElementwiseOptions.LeakyRelu.TYPE).get(ElementwiseOptions.LeakyRelu.ALPHA);
        OperandTypes.require(operator, Set.of(FLOAT32, INT8, INT16), data, output);
        operator.require(Float.isFinite(alpha), "alpha is " + alpha, "a finite number", "Export the model again");
        operator.check();
        if (data.dtype().isFloat()) {
            operator.finish(operator.emit(new LeakyRelu(alpha), operator.value(data)));
            return;
        }
        OperandTypes.requireScales(operator, data, output);
        operator.check();
        float in = data.quantization().scale(0);
        float out = output.quantization().scale(0);
        QuantizedMultiplier positive = Requantizing.boundedMultiplier(operator, in / out);
        QuantizedMultiplier negative = Requantizing.boundedMultiplier(operator, in * alpha / out);
        operator.finish(
                data.dtype() == DType.INT8
                        ? TableImporter.lookup(
                                operator,
                                data,
                                TflActivations.leakyRelu(
                                        OperandTypes.quantization(data),
                                        OperandTypes.quantization(output),
                                        positive,
                                        negative))
                        : operator.emit(
                                new TflLeakyRelu(
                                        data.quantization().zeroPoint(),
                                        output.quantization().zeroPoint(),
                                        positive,
                                        negative),
                                operator.value(data)));
    }
}
