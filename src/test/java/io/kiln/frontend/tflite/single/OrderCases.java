// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static org.tensorflow.lite.schema.TensorType.BOOL;
import static org.tensorflow.lite.schema.TensorType.FLOAT32;
import static org.tensorflow.lite.schema.TensorType.INT16;
import static org.tensorflow.lite.schema.TensorType.INT32;
import static org.tensorflow.lite.schema.TensorType.INT64;
import static org.tensorflow.lite.schema.TensorType.INT8;
import static org.tensorflow.lite.schema.TensorType.UINT8;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.List;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;

/** Places of extremes, largest elements, products and truth values along dimensions. */
final class OrderCases {
    static final List<OperatorCases> ALL = List.of(
            OperatorCases.of("TOPK_V2", OrderCases::largest),
            OperatorCases.of("ARG_MAX_INT64", d -> index(d, true)),
            OperatorCases.of("ARG_MIN_INT64", d -> index(d, false)),
            OperatorCases.of(
                    "REDUCE_PROD", d -> reduce(d, BuiltinOperator.REDUCE_PROD, d.oneOf(FLOAT32, INT32, INT64))),
            OperatorCases.of(
                    "REDUCE_PROD_QUANTIZED", d -> reduce(d, BuiltinOperator.REDUCE_PROD, d.oneOf(INT8, INT16))),
            OperatorCases.of("REDUCE_ANY", d -> reduce(d, BuiltinOperator.REDUCE_ANY, BOOL)),
            OperatorCases.of("REDUCE_ALL", d -> reduce(d, BuiltinOperator.REDUCE_ALL, BOOL)));

    private OrderCases() {}

    private static void largest(Draw d) {
        TensorSpec x = d.tensor(d.oneOf(FLOAT32, INT8, UINT8, INT16, INT32, INT64), d.shape(1, 3));
        int k = d.between(1, x.shape().get(x.rank() - 1));
        // Where one is no number, the kernel's order depends on the algorithm of the C++ library.
        int[] in = {
            x.type() == FLOAT32 || d.coin() ? d.inputOfNumbers(x) : d.input(x, 0, 5),
            d.add(TensorSpec.int32("k", k).withShape(List.of()))
        };
        d.result(d.like(x));
        d.result(TensorSpec.of("indices", INT32));
        d.operator(BuiltinOperator.TOPK_V2, 2, Options.none(), in);
    }

    private static void index(Draw d, boolean isLargest) {
        TensorSpec x = d.tensor(d.oneOf(INT8, UINT8, FLOAT32, INT32, BOOL), d.shape(1, 4));
        ReductionOperators.index(d, x, () -> d.oneOf(INT32, INT64), isLargest, 3);
    }

    private static void reduce(Draw d, int builtin, byte type) {
        TensorSpec x = d.tensor(type, d.shape(1, 4));
        Options options = Options.table(BuiltinOptions.ReducerOptions, Field.bool(0, d.coin()));
        List<Integer> axes = ReductionOperators.axes(d, x.rank());
        d.inputOfNumbers(x);
        d.add(TensorSpec.int32("axes", axes));
        d.compute(d.tensor(type), builtin, 1, options);
    }
}
