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
import java.util.ArrayList;
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
        int size = x.shape().get(x.shape().size() - 1);
        int k = d.between(1, size);
        int[] dims = array(x.shape());
        dims[dims.length - 1] = k;
        int[] in = {
            // Where one is no number, the kernel's order depends on the algorithm of the C++ library.
            x.type() == FLOAT32 || d.coin() ? d.inputOfNumbers(x) : d.input(x, 0, 5),
            d.add(TensorSpec.of("k", INT32).withData((byte) k, (byte) (k >> 8), (byte) 0, (byte) 0))
        };
        d.output(d.like(x, dims));
        d.output(TensorSpec.of("indices", INT32, dims));
        d.operator(BuiltinOperator.TOPK_V2, 2, Options.none(), in);
    }

    private static void index(Draw d, boolean isLargest) {
        TensorSpec x = d.tensor(d.oneOf(INT8, UINT8, FLOAT32, INT32, BOOL), d.shape(1, 4));
        int axis = d.between(0, x.shape().size() - 1);
        List<Integer> dims = new ArrayList<>(x.shape());
        dims.remove(axis);
        int[] in = {d.inputOfAnything(x), d.add(TensorSpec.int32("axis", axis))};
        byte type = d.oneOf(INT32, INT64);
        d.output(TensorSpec.of("y", type, array(dims)));
        byte options = isLargest ? BuiltinOptions.ArgMaxOptions : BuiltinOptions.ArgMinOptions;
        d.operator(
                isLargest ? BuiltinOperator.ARG_MAX : BuiltinOperator.ARG_MIN,
                3,
                Options.table(options, Field.int8(0, type)),
                in);
    }

    private static void reduce(Draw d, int builtin, byte type) {
        TensorSpec x = d.tensor(type, d.shape(1, 4));
        int rank = x.shape().size();
        boolean keepDims = d.coin();
        List<Integer> axes = new ArrayList<>();
        List<Integer> dims = new ArrayList<>();
        for (int axis = 0; axis < rank; axis++) {
            boolean isReduced = d.coin() || (axis == rank - 1 && axes.isEmpty());
            if (isReduced) {
                axes.add(d.coin() ? axis : axis - rank);
            }
            if (!isReduced || keepDims) {
                dims.add(isReduced ? 1 : x.shape().get(axis));
            }
        }
        int[] in = {d.inputOfNumbers(x), d.add(TensorSpec.int32("axes", array(axes)))};
        d.output(d.tensor(type, array(dims)));
        d.operator(builtin, 1, Options.table(BuiltinOptions.ReducerOptions, Field.bool(0, keepDims)), in);
    }

    private static int[] array(List<Integer> values) {
        return values.stream().mapToInt(Integer::intValue).toArray();
    }
}
