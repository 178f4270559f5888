// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;
import static io.kiln.base.DType.UINT8;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operand.Requantizing;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TensorQuantization;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.QnnQuantize;
import java.util.Map;
import java.util.Set;

/** QUANTIZE: from float32, or from one scale to another (micro/kernels/quantize_common.cc). */
final class QuantizeImporter implements OperatorImporter {
    private static final int LAST_AXIS = -1;

    /** Type pairs supported by the reference kernel. */
    private static final Map<DType, Set<DType>> PAIRS = Map.of(
            FLOAT32, Set.of(INT8, INT16),
            INT32, Set.of(INT8, INT16),
            INT16, Set.of(INT8, INT16, INT32),
            INT8, Set.of(INT8, UINT8, INT16, INT32),
            UINT8, Set.of(INT8));

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        Set<DType> targets = PAIRS.getOrDefault(data.dtype(), Set.of());
        operator.require(
                targets.contains(output.dtype()),
                "from " + data.dtype().text() + " to " + output.dtype().text() + " is not supported",
                targets.isEmpty()
                        ? "data of " + OperandTypes.text(PAIRS.keySet())
                        : "from " + data.dtype().text() + " to " + OperandTypes.text(targets),
                "Convert the model with int8 or float32 inputs and outputs");
        OperandTypes.requireScales(operator, output);
        if (!data.dtype().isFloat()) {
            OperandTypes.requireScales(operator, data);
        }
        operator.check();
        requireZeroPoints(operator, data, output);
        operator.check();
        operator.finish(data.dtype().isFloat() ? quantize(operator, data, output) : rescale(operator, data, output));
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

    private static Arg quantize(OperatorContext operator, TfliteTensor data, TfliteTensor output) {
        return operator.emit(
                new QnnQuantize(output.dtype()),
                operator.value(data),
                OperandTypes.scale(output),
                OperandTypes.zeroPoint(output));
    }

    private static Arg rescale(OperatorContext operator, TfliteTensor data, TfliteTensor output) {
        TensorQuantization from = data.quantization();
        double multiplier = (double) from.scale(0) / output.quantization().scale(0);
        return Requantizing.rescale(
                operator, operator.value(data), LAST_AXIS, from.zeroPoint(), 1, index -> multiplier);
    }
}
