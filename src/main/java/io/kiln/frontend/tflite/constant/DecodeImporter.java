// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.constant;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Constant;
import java.util.List;

/** TFLM_DECODE: constants that are compressed in the file. They are decoded during import, and stay constants. */
final class DecodeImporter implements OperatorImporter {
    @Override
    public void emit(OperatorContext operator) {
        List<TfliteTensor> outputs = operator.outputs();
        operator.require(
                !outputs.isEmpty() && operator.inputCount() == 2 * outputs.size(),
                "it has " + operator.inputCount() + " inputs and " + outputs.size() + " outputs",
                "codes and ancillary data for each output",
                "Compress the model again");
        operator.check();
        for (int i = 0; i < outputs.size(); i++) {
            decode(operator, operator.input(2 * i), operator.input(2 * i + 1), outputs.get(i));
        }
    }

    private static void decode(
            OperatorContext operator, TfliteTensor codes, TfliteTensor ancillary, TfliteTensor output) {
        OperandTypes.require(operator, EncodedConstant.types(), output);
        for (TfliteTensor tensor : List.of(codes, ancillary)) {
            operator.require(
                    tensor.isStored() && !tensor.variable(),
                    tensor.text() + " is not constant",
                    "codes and ancillary data that are in the file",
                    "Compress the model again");
        }
        operator.check();
        operator.spend(output.type().bytes());
        try {
            byte[] decoded = EncodedConstant.decode(
                    codes.data().bytes(), ancillary.data().bytes(), output);
            operator.values().define(output.index(), new Constant(output.name(), output.type(), Bytes.wrap(decoded)));
        } catch (IllegalArgumentException e) {
            throw failure(operator, output, e);
        }
    }

    private static KilnException failure(OperatorContext operator, TfliteTensor output, IllegalArgumentException e) {
        return operator.failure(
                "`" + output.name() + "` cannot be decoded: " + e.getMessage(),
                "the format of TensorFlow Lite Micro's compressor");
    }
}
