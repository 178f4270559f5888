// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Operators that reduce dimensions, and that find elements by index or coordinates. */
final class ReductionOperators {
    static final OperatorCases MEAN = OperatorCases.of("MEAN", d -> reduce(d, BuiltinOperator.MEAN))
            .mayDifferByOne("TensorFlow Lite rescales the sum over height and width in fixed point");
    static final OperatorCases SUM = OperatorCases.of("SUM", d -> reduce(d, BuiltinOperator.SUM));
    static final OperatorCases REDUCE_MAX = OperatorCases.of("REDUCE_MAX", d -> reduce(d, BuiltinOperator.REDUCE_MAX));
    static final OperatorCases REDUCE_MIN = OperatorCases.of("REDUCE_MIN", d -> reduce(d, BuiltinOperator.REDUCE_MIN));

    static final OperatorCases ARG_MAX = OperatorCases.of("ARG_MAX", d -> index(d, true));
    static final OperatorCases ARG_MIN = OperatorCases.of("ARG_MIN", d -> index(d, false));

    static final OperatorCases RESIZE_BILINEAR = OperatorCases.of("RESIZE_BILINEAR", d -> resize(d, true));
    static final OperatorCases RESIZE_NEAREST = OperatorCases.of("RESIZE_NEAREST_NEIGHBOR", d -> resize(d, false));

    static final OperatorCases GATHER = OperatorCases.of("GATHER", d -> {
        byte type = d.oneOf(TensorType.INT8, TensorType.FLOAT32, TensorType.INT16, TensorType.INT32);
        TensorSpec x = d.tensor(type, d.shape(1, 3));
        int rank = x.shape().size();
        int axis = d.between(0, rank - 1);
        int batchDims = d.between(0, axis);
        List<Integer> indices = new ArrayList<>(x.shape().subList(0, batchDims));
        for (int i = d.between(0, 2); i > 0; i--) {
            indices.add(d.between(1, 4));
        }
        List<Integer> dims = new ArrayList<>(x.shape().subList(0, axis));
        dims.addAll(indices.subList(batchDims, indices.size()));
        dims.addAll(x.shape().subList(axis + 1, rank));
        TensorSpec chosen = TensorSpec.of("indices", TensorType.INT32, array(indices));
        int[] in = {d.input(x), d.input(chosen, 0, x.shape().get(axis) - 1)};
        d.output(like(d, x, array(dims)));
        d.operator(
                BuiltinOperator.GATHER,
                1,
                Options.table(BuiltinOptions.GatherOptions, Field.int32(0, axis), Field.int32(1, batchDims)),
                in);
    });

    static final List<OperatorCases> ALL =
            List.of(MEAN, SUM, REDUCE_MAX, REDUCE_MIN, ARG_MAX, ARG_MIN, RESIZE_BILINEAR, RESIZE_NEAREST, GATHER);

    private ReductionOperators() {}

    private static void reduce(Draw d, int builtin) {
        boolean isSum = builtin == BuiltinOperator.SUM;
        TensorSpec x =
                d.tensor(isSum ? TensorType.FLOAT32 : d.oneOf(TensorType.INT8, TensorType.FLOAT32), d.shape(1, 4));
        int rank = x.shape().size();
        boolean keepDims = d.coin();
        List<Integer> axes = new ArrayList<>();
        List<Integer> dims = new ArrayList<>();
        for (int axis = 0; axis < rank; axis++) {
            boolean reduced = d.coin() || (axis == rank - 1 && axes.isEmpty());
            if (reduced) {
                axes.add(d.coin() ? axis : axis - rank);
            }
            if (!reduced || keepDims) {
                dims.add(reduced ? 1 : x.shape().get(axis));
            }
        }
        int[] in = {d.input(x), d.add(TensorSpec.int32("axes", array(axes)))};
        boolean rescales = builtin == BuiltinOperator.MEAN && d.coin();
        d.output(rescales ? d.tensor(x.type(), array(dims)) : like(d, x, array(dims)));
        d.operator(builtin, 2, Options.table(BuiltinOptions.ReducerOptions, Field.bool(0, keepDims)), in);
    }

    private static void index(Draw d, boolean largest) {
        TensorSpec x = d.tensor(d.oneOf(TensorType.INT8, TensorType.FLOAT32), d.shape(1, 4));
        int axis = d.between(0, x.shape().size() - 1);
        List<Integer> dims = new ArrayList<>(x.shape());
        dims.remove(axis);
        int[] in = {d.input(x), d.add(TensorSpec.int32("axis", axis))};
        d.output(TensorSpec.of("y", TensorType.INT32, array(dims)));
        byte options = largest ? BuiltinOptions.ArgMaxOptions : BuiltinOptions.ArgMinOptions;
        d.operator(
                largest ? BuiltinOperator.ARG_MAX : BuiltinOperator.ARG_MIN,
                2,
                Options.table(options, Field.int8(0, TensorType.INT32)),
                in);
    }

    private static void resize(Draw d, boolean linear) {
        TensorSpec x = d.tensor(
                d.oneOf(TensorType.INT8, TensorType.FLOAT32),
                d.between(1, 2),
                d.between(1, 7),
                d.between(1, 7),
                d.between(1, 5));
        int[] size = {d.between(1, 12), d.between(1, 12)};
        int mode = d.between(0, 2);
        int[] in = {d.input(x), d.add(TensorSpec.int32("size", size))};
        d.output(like(d, x, x.shape().get(0), size[0], size[1], x.shape().get(3)));
        int first = linear ? 2 : 0;
        byte options = linear ? BuiltinOptions.ResizeBilinearOptions : BuiltinOptions.ResizeNearestNeighborOptions;
        d.operator(
                linear ? BuiltinOperator.RESIZE_BILINEAR : BuiltinOperator.RESIZE_NEAREST_NEIGHBOR,
                3,
                Options.table(options, Field.bool(first, mode == 1), Field.bool(first + 1, mode == 2)),
                in);
    }

    /** Another tensor of the same type and quantization. */
    private static TensorSpec like(Draw d, TensorSpec x, int... shape) {
        TensorSpec y = d.tensor(x.type(), shape);
        return x.scales().isEmpty()
                ? y
                : y.quantized(x.scales().get(0), x.zeroPoints().get(0));
    }

    private static int[] array(List<Integer> values) {
        return values.stream().mapToInt(Integer::intValue).toArray();
    }
}
