// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.constant;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.INT8;
import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.custom;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.DENSIFY;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.FILL;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.ZEROS_LIKE;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Constant;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Set;

/** Operators whose results are constant, or repeat one element. */
public final class ConstantImporters {
    public static final List<Registration> ALL = List.of(
            builtin(DENSIFY, 1, ConstantImporters::densify),
            builtin(FILL, 4, new FillImporter()),
            builtin(ZEROS_LIKE, 1, new ZerosImporter()),
            custom("TFLM_DECODE", new DecodeImporter()));

    private ConstantImporters() {}

    /** DENSIFY: sparse constants have all of their elements when they have been read. */
    private static void densify(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        operator.require(
                data.isConstant(),
                data.text() + " is computed",
                "a sparse constant",
                "Export the model with dense weights");
        operator.check();
        operator.finish(operator.constant(data));
    }

    /** ZEROS_LIKE: always a constant. */
    private static final class ZerosImporter implements OperatorImporter {
        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            OperandTypes.require(operator, Set.of(FLOAT32, INT8, INT32, INT64), data, operator.output());
            operator.check();
            TensorType type = data.type();
            operator.spend(type.bytes());
            operator.finish(new Constant("", type, Bytes.wrap(new byte[Math.toIntExact(type.bytes())])));
        }
    }
}
