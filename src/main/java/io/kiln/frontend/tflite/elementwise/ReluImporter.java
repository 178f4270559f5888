// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT8;

import io.kiln.frontend.tflite.operand.Activation;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operand.Requantizing;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import java.util.Set;

/** RELU, RELU6, RELU_N1_TO_1 and RELU_0_TO_1; those of integers rescale to the output and clamp there (QuantizedReluX in activations.cc). */
final class ReluImporter implements OperatorImporter {
    private static final int LAST_AXIS = -1;

    private final Activation activation;

    ReluImporter(Activation activation) {
        this.activation = activation;
    }

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        OperandTypes.require(operator, Set.of(FLOAT32, INT8, INT16), data, output);
        operator.check();
        if (!data.dtype().isFloat()) {
            OperandTypes.requireScales(operator, data, output);
            OperandTypes.requireSymmetric(operator, data, output);
            operator.check();
        }
        Arg value = operator.value(data);
        operator.finish(activation.apply(operator, rescales(data, output) ? rescaled(operator, value) : value));
    }

    private static boolean rescales(TfliteTensor data, TfliteTensor output) {
        return !data.dtype().isFloat() && !OperandTypes.quantization(data).equals(OperandTypes.quantization(output));
    }

    /** The quotient of the scales is in single precision (ReluPrepare). */
    private static Arg rescaled(OperatorContext operator, Arg value) {
        TfliteTensor data = operator.input(0);
        float multiplier = Requantizing.quotient(data, operator.output());
        return Requantizing.rescale(
                operator, value, LAST_AXIS, data.quantization().zeroPoint(), 1, index -> multiplier);
    }
}
