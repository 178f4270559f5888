// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.Arrays;
import java.util.List;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/** Softmax and what changes only the shape. */
final class BasicOperators {
    static final OperatorCases SOFTMAX = OperatorCases.of("SOFTMAX", d -> {
        int[] shape = d.shape(1, 4);
        float beta = d.oneOf(1f, 1f, 0.5f, 2.5f);
        boolean isFloat = d.coin();
        TensorSpec x = d.tensor(isFloat ? TensorType.FLOAT32 : TensorType.INT8, shape);
        d.input(x);
        TensorSpec y = isFloat
                ? d.tensor(TensorType.FLOAT32)
                : d.coin()
                        ? TensorSpec.int8("y", 1f / 256, -128)
                        : TensorSpec.of("y", TensorType.INT16).quantized(1f / 65536, -32768);
        d.compute(y, BuiltinOperator.SOFTMAX, isFloat ? 1 : 2, Options.softmax(beta));
    });

    static final OperatorCases SOFTMAX_INT16 = OperatorCases.of("SOFTMAX_INT16", d -> {
                TensorSpec in = d.tensor(TensorType.INT16, d.shape(1, 4));
                d.input(d.coin() ? in : in.quantized(d.oneOf(1f / 4096, 1f / 32768, 0.5f), 0));
                TensorSpec y = TensorSpec.of("y", TensorType.INT16).quantized(1f / 32768, 0);
                d.compute(y, BuiltinOperator.SOFTMAX, 2, Options.softmax(d.oneOf(1f, 1f, 0.5f, 2.5f)));
            })
            .roundedOtherwise("its tables are made in double precision");

    static final OperatorCases RESHAPE = OperatorCases.of("RESHAPE", d -> {
        int[] shape = d.shape(1, 5);
        int rows = d.oneOf(1, shape[0]);
        int[] to = {rows, Arrays.stream(shape).reduce(1, (a, b) -> a * b) / rows, 1};
        TensorSpec x =
                d.tensor(d.oneOf(TensorType.INT8, TensorType.FLOAT32, TensorType.UINT32, TensorType.UINT64), shape);
        d.input(x);
        int[] stated = d.coin() ? new int[] {rows, -1, 1} : to;
        d.add(TensorSpec.int32("shape", stated));
        TensorSpec y = TensorSpec.of("y", x.type());
        boolean isScaled = x.type() == TensorType.INT8;
        TensorSpec result =
                isScaled ? y.quantized(x.scales().get(0), x.zeroPoints().get(0)) : y;
        d.compute(result, BuiltinOperator.RESHAPE, 1, Options.reshape(stated));
    });

    /** The second operand is no vector of int32, or is left out: the options have the shape, and those of a scalar are [0] or empty. */
    static final OperatorCases RESHAPE_BY_OPTIONS = OperatorCases.of("RESHAPE_BY_OPTIONS", d -> {
        boolean toScalar = d.between(1, 3) == 1;
        int[] shape = toScalar ? new int[] {1, 1} : d.shape(1, 4);
        int elements = Arrays.stream(shape).reduce(1, (a, b) -> a * b);
        int in = d.input(d.tensor(TensorType.FLOAT32, shape));
        byte type = d.oneOf(TensorType.INT32, TensorType.INT64);
        TensorSpec unread =
                d.tensor(type, type == TensorType.INT64 ? new int[] {3} : d.oneOf(new int[] {1, 3}, new int[0]));
        int[] operands = d.coin() ? new int[] {in} : new int[] {in, d.inputOrConstant(unread)};
        d.output(TensorSpec.float32("y", toScalar ? new int[0] : new int[] {1, elements}));
        Options legacy = d.coin() ? Options.reshape(0) : d.coin() ? Options.reshape() : Options.none();
        Options stated = Options.reshape(1, d.coin() ? -1 : elements);
        d.operator(BuiltinOperator.RESHAPE, 1, toScalar ? legacy : stated, operands);
    });

    static final List<OperatorCases> ALL = List.of(SOFTMAX, SOFTMAX_INT16, RESHAPE, RESHAPE_BY_OPTIONS);

    private BasicOperators() {}
}
