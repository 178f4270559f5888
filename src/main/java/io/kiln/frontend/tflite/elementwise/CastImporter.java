// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.elementwise;

import static io.kiln.base.DType.BOOL;
import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;
import static io.kiln.base.DType.UINT32;
import static io.kiln.base.DType.UINT8;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.op.element.Cast;
import java.util.Set;

/** CAST; the types that its options repeat are ignored. */
final class CastImporter implements OperatorImporter {
    private static final Set<DType> FROM = Set.of(INT8, UINT8, INT16, INT32, UINT32, FLOAT32, BOOL);
    private static final Set<DType> TO = Set.of(INT8, UINT8, INT16, INT32, UINT32, FLOAT32);

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor output = operator.output();
        OperandTypes.require(operator, FROM, data);
        OperandTypes.require(operator, TO, output);
        operator.check();
        operator.finish(operator.emit(new Cast(output.dtype()), operator.value(data)));
    }
}
