// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.QnnBinary;
import java.util.List;
import java.util.Set;

/**
 * Comparisons with broadcasting; quantized elements are compared by their real values.
 *
 * @param kind the comparison for elements that are not quantized
 * @param quantized the comparison for quantized elements
 * @param dtypes types supported by the reference kernel
 */
record ComparisonImporter(Binary.Kind kind, QnnBinary.Kind quantized, Set<DType> dtypes) implements OperatorImporter {
    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor lhs = operator.input(0);
        TfliteTensor rhs = operator.input(1);
        OperandTypes.require(operator, dtypes, lhs, rhs);
        OperandTypes.require(operator, Set.of(DType.BOOL), operator.output());
        operator.check();
        if (!OperandTypes.isQuantized(lhs.dtype())) {
            operator.finish(operator.emit(new Binary(kind), operator.value(lhs), operator.value(rhs)));
            return;
        }
        OperandTypes.requireScales(operator, lhs, rhs);
        operator.check();
        for (TfliteTensor tensor : lhs.index() == rhs.index() ? List.of(lhs) : List.of(lhs, rhs)) {
            operator.require(
                    tensor.quantization().scale(0) < 1,
                    "`" + tensor.name() + "` has scale " + tensor.quantization().scale(0),
                    "a scale below 1, as the reference kernel requires",
                    "Quantize the model again");
        }
        operator.check();
        Arg value = operator.emit(
                new QnnBinary(quantized),
                operator.value(lhs),
                operator.value(rhs),
                OperandTypes.scale(lhs),
                OperandTypes.zeroPoint(lhs),
                OperandTypes.scale(rhs),
                OperandTypes.zeroPoint(rhs));
        operator.finish(value);
    }
}
