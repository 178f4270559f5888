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
    static final OperatorCases MEAN = OperatorCases.of("MEAN", d -> reduce(d, BuiltinOperator.MEAN));
    static final OperatorCases SUM = OperatorCases.of("SUM", d -> reduce(d, BuiltinOperator.SUM))
            .roundedOtherwise("TensorFlow Lite's kernel rescales the sum in single precision");
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
        d.output(d.like(x, array(dims)));
        d.operator(
                BuiltinOperator.GATHER,
                1,
                Options.table(BuiltinOptions.GatherOptions, Field.int32(0, axis), Field.int32(1, batchDims)),
                in);
    });

    static final OperatorCases GATHER_ND = OperatorCases.of("GATHER_ND", d -> {
        TensorSpec x = d.tensor(d.oneOf(TensorType.INT8, TensorType.FLOAT32), d.shape(1, 3));
        int named = d.between(1, x.shape().size());
        int least = x.shape().subList(0, named).stream().mapToInt(i -> i).min().orElse(1);
        int[] lead = d.shape(1, 2);
        List<Integer> indices = new ArrayList<>();
        List<Integer> dims = new ArrayList<>();
        for (int dim : lead) {
            indices.add(Math.min(dim, 5));
            dims.add(Math.min(dim, 5));
        }
        indices.add(named);
        dims.addAll(x.shape().subList(named, x.shape().size()));
        int data = d.input(x);
        int chosen = d.input(TensorSpec.of("indices", TensorType.INT32, array(indices)), 0, least - 1);
        d.output(d.like(x, array(dims)));
        d.operator(BuiltinOperator.GATHER_ND, 1, Options.none(), data, chosen);
    });

    static final OperatorCases EMBEDDING_LOOKUP = OperatorCases.of("EMBEDDING_LOOKUP", d -> {
        int[] shape = {d.between(1, 9), d.between(1, 5), d.between(1, 3)};
        int count = d.between(1, 6);
        int indices = d.input(TensorSpec.of("indices", TensorType.INT32, count), 0, shape[0] - 1);
        int table = d.add(
                d.coin()
                        ? d.constant(d.tensor(TensorType.FLOAT32, shape))
                        : d.constant(TensorSpec.int8("table", d.scale(), 0, shape)));
        d.output(TensorSpec.float32("y", count, shape[1], shape[2]));
        d.operator(BuiltinOperator.EMBEDDING_LOOKUP, 1, Options.none(), indices, table);
    });

    static final OperatorCases L2_NORMALIZATION = OperatorCases.of("L2_NORMALIZATION", d -> {
        TensorSpec x = d.tensor(d.oneOf(TensorType.FLOAT32, TensorType.INT8), d.shape(2, 4));
        int in = d.input(x);
        d.output(d.tensor(x.type(), array(x.shape())).quantized(1f / 128, 0));
        d.operator(
                BuiltinOperator.L2_NORMALIZATION, 2, Options.table(BuiltinOptions.L2NormOptions, Field.int8(0, 0)), in);
    });

    static final OperatorCases LOG_SOFTMAX = OperatorCases.of("LOG_SOFTMAX", d -> {
        TensorSpec x = d.tensor(d.oneOf(TensorType.FLOAT32, TensorType.INT8), d.shape(1, 4));
        int in = d.input(x);
        d.output(d.tensor(x.type(), array(x.shape())).quantized(1f / 16, 127));
        d.operator(BuiltinOperator.LOG_SOFTMAX, 2, Options.none(), in);
    });

    static final OperatorCases L2_POOL = OperatorCases.of("L2_POOL_2D", d -> {
        RandomWindow w = new RandomWindow(d);
        int depth = d.between(1, 5);
        TensorSpec x = d.tensor(TensorType.FLOAT32, d.between(1, 2), w.inputHeight, w.inputWidth, depth);
        int in = d.input(x);
        d.output(d.like(x, x.shape().get(0), w.pooledHeight(), w.pooledWidth(), depth));
        d.operator(
                BuiltinOperator.L2_POOL_2D,
                1,
                Options.pool(w.padding, w.strideH, w.strideW, w.height, w.width, d.activation()),
                in);
    });

    static final List<OperatorCases> ALL = List.of(
            GATHER_ND,
            EMBEDDING_LOOKUP,
            L2_NORMALIZATION,
            LOG_SOFTMAX,
            L2_POOL,
            MEAN,
            SUM,
            REDUCE_MAX,
            REDUCE_MIN,
            ARG_MAX,
            ARG_MIN,
            RESIZE_BILINEAR,
            RESIZE_NEAREST,
            GATHER);

    private ReductionOperators() {}

    private static void reduce(Draw d, int builtin) {
        TensorSpec x = d.tensor(d.oneOf(TensorType.INT8, TensorType.FLOAT32, TensorType.INT16), d.shape(1, 4));
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
        // TensorFlow Lite's extreme of a whole tensor begins with the first element, which may be NaN.
        boolean isWhole = axes.size() == rank && builtin != BuiltinOperator.MEAN && builtin != BuiltinOperator.SUM;
        int data = isWhole ? d.inputOfNumbers(x) : d.inputOfAnything(x);
        int[] in = {data, d.add(TensorSpec.int32("axes", array(axes)))};
        boolean rescales = (builtin == BuiltinOperator.MEAN || builtin == BuiltinOperator.SUM) && d.coin();
        d.output(rescales ? d.tensor(x.type(), array(dims)) : d.like(x, array(dims)));
        d.operator(builtin, 2, Options.table(BuiltinOptions.ReducerOptions, Field.bool(0, keepDims)), in);
    }

    private static void index(Draw d, boolean largest) {
        TensorSpec x = d.tensor(d.oneOf(TensorType.INT8, TensorType.FLOAT32), d.shape(1, 4));
        int axis = d.between(0, x.shape().size() - 1);
        List<Integer> dims = new ArrayList<>(x.shape());
        dims.remove(axis);
        int[] in = {d.inputOfAnything(x), d.add(TensorSpec.int32("axis", axis))};
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
        d.output(d.like(x, x.shape().get(0), size[0], size[1], x.shape().get(3)));
        int first = linear ? 2 : 0;
        byte options = linear ? BuiltinOptions.ResizeBilinearOptions : BuiltinOptions.ResizeNearestNeighborOptions;
        d.operator(
                linear ? BuiltinOperator.RESIZE_BILINEAR : BuiltinOperator.RESIZE_NEAREST_NEIGHBOR,
                3,
                Options.table(options, Field.bool(first, mode == 1), Field.bool(first + 1, mode == 2)),
                in);
    }

    private static int[] array(List<Integer> values) {
        return values.stream().mapToInt(Integer::intValue).toArray();
    }
}
