// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Operators that reduce dimensions, and that find elements by index or coordinates. */
final class ReductionOperators {
    private static final String IN_SINGLES = "TensorFlow Lite's kernel rescales the sum in single precision";

    static final OperatorCases MEAN = OperatorCases.of("MEAN", d -> reduce(d, BuiltinOperator.MEAN));
    static final OperatorCases LOG_SOFTMAX = OperatorCases.of("LOG_SOFTMAX", ReductionOperators::logSoftmax);

    static final List<OperatorCases> ALL = List.of(
            OperatorCases.of("GATHER_ND", ReductionOperators::gatherNd),
            OperatorCases.of("EMBEDDING_LOOKUP", ReductionOperators::embedding),
            OperatorCases.of("L2_NORMALIZATION", ReductionOperators::normalize),
            LOG_SOFTMAX,
            OperatorCases.of("L2_POOL_2D", ReductionOperators::pool),
            MEAN,
            OperatorCases.of("SUM", d -> reduce(d, BuiltinOperator.SUM)).roundedOtherwise(IN_SINGLES),
            OperatorCases.of("REDUCE_MAX", d -> reduce(d, BuiltinOperator.REDUCE_MAX)),
            OperatorCases.of("REDUCE_MIN", d -> reduce(d, BuiltinOperator.REDUCE_MIN)),
            OperatorCases.of("ARG_MAX", d -> index(d, true)),
            OperatorCases.of("ARG_MIN", d -> index(d, false)),
            OperatorCases.of("RESIZE_BILINEAR", d -> resize(d, true)),
            OperatorCases.of("RESIZE_NEAREST_NEIGHBOR", d -> resize(d, false)),
            OperatorCases.of("GATHER", ReductionOperators::gather));

    private ReductionOperators() {}

    private static void gather(Draw d) {
        byte type = d.oneOf(TensorType.INT8, TensorType.FLOAT32, TensorType.INT16, TensorType.INT32);
        TensorSpec x = d.tensor(type, d.shape(1, 3));
        int axis = d.between(0, x.rank() - 1);
        int batchDims = d.between(0, axis);
        List<Integer> indices = new ArrayList<>(x.shape().subList(0, batchDims));
        for (int i = d.between(0, 2); i > 0; i--) {
            indices.add(d.between(1, 4));
        }
        d.input(x);
        d.input(
                TensorSpec.of("indices", TensorType.INT32, indices),
                0,
                x.shape().get(axis) - 1);
        Options options = Options.table(BuiltinOptions.GatherOptions, Field.int32(0, axis), Field.int32(1, batchDims));
        d.compute(d.like(x), BuiltinOperator.GATHER, 1, options);
    }

    private static void gatherNd(Draw d) {
        TensorSpec x = d.tensor(d.oneOf(TensorType.INT8, TensorType.FLOAT32), d.shape(1, 3));
        int named = d.between(1, x.rank());
        List<Integer> indices = new ArrayList<>();
        for (int dim : d.shape(1, 2)) {
            indices.add(Math.min(dim, 5));
        }
        indices.add(named);
        d.input(x);
        d.input(
                TensorSpec.of("indices", TensorType.INT32, indices),
                0,
                Collections.min(x.shape().subList(0, named)) - 1);
        d.compute(d.like(x), BuiltinOperator.GATHER_ND, 1, Options.none());
    }

    private static void embedding(Draw d) {
        int[] shape = {d.between(1, 9), d.between(1, 5), d.between(1, 3)};
        d.input(TensorSpec.of("indices", TensorType.INT32, d.between(1, 6)), 0, shape[0] - 1);
        d.add(d.constant(
                d.coin() ? d.tensor(TensorType.FLOAT32, shape) : TensorSpec.int8("table", d.scale(), 0, shape)));
        d.compute(TensorSpec.float32("y"), BuiltinOperator.EMBEDDING_LOOKUP, 1, Options.none());
    }

    private static void normalize(Draw d) {
        TensorSpec x = d.tensor(d.oneOf(TensorType.FLOAT32, TensorType.INT8), d.shape(2, 4));
        d.input(x);
        Options options = Options.table(BuiltinOptions.L2NormOptions, Field.int8(0, 0));
        d.compute(d.tensor(x.type()).quantized(1f / 128, 0), BuiltinOperator.L2_NORMALIZATION, 2, options);
    }

    private static void logSoftmax(Draw d) {
        TensorSpec x = d.tensor(d.oneOf(TensorType.FLOAT32, TensorType.INT8), d.shape(1, 4));
        d.input(x);
        d.compute(d.tensor(x.type()).quantized(1f / 16, 127), BuiltinOperator.LOG_SOFTMAX, 2, Options.none());
    }

    private static void pool(Draw d) {
        RandomWindow w = new RandomWindow(d);
        int depth = d.between(1, 5);
        TensorSpec x = d.tensor(TensorType.FLOAT32, w.input(d.between(1, 2), depth));
        d.input(x);
        d.compute(d.like(x), BuiltinOperator.L2_POOL_2D, 1, w.pool(d.activation()));
    }

    /** Some axes, at least one, counted from either end. */
    static List<Integer> axes(Draw d, int rank) {
        List<Integer> axes = new ArrayList<>();
        for (int axis = 0; axis < rank; axis++) {
            if (d.coin() || (axis == rank - 1 && axes.isEmpty())) {
                axes.add(d.coin() ? axis : axis - rank);
            }
        }
        return axes;
    }

    private static void reduce(Draw d, int builtin) {
        TensorSpec x = d.tensor(d.oneOf(TensorType.INT8, TensorType.FLOAT32, TensorType.INT16), d.shape(1, 4));
        Options options = Options.table(BuiltinOptions.ReducerOptions, Field.bool(0, d.coin()));
        List<Integer> axes = axes(d, x.rank());
        // TensorFlow Lite's extreme of a whole tensor begins with the first element, which may be NaN.
        boolean isExtreme = builtin != BuiltinOperator.MEAN && builtin != BuiltinOperator.SUM;
        if (isExtreme && axes.size() == x.rank()) {
            d.inputOfNumbers(x);
        } else {
            d.inputOfAnything(x);
        }
        d.add(TensorSpec.int32("axes", axes));
        d.compute(!isExtreme && d.coin() ? d.tensor(x.type()) : d.like(x), builtin, 2, options);
    }

    private static void index(Draw d, boolean isLargest) {
        TensorSpec x = d.tensor(d.oneOf(TensorType.INT8, TensorType.FLOAT32), d.shape(1, 4));
        index(d, x, () -> TensorType.INT32, isLargest, 2);
    }

    /** @param type of the indices */
    static void index(Draw d, TensorSpec x, Supplier<Byte> type, boolean isLargest, int version) {
        d.inputOfAnything(x);
        d.add(TensorSpec.int32("axis", d.between(0, x.rank() - 1)));
        byte of = type.get();
        byte options = isLargest ? BuiltinOptions.ArgMaxOptions : BuiltinOptions.ArgMinOptions;
        int builtin = isLargest ? BuiltinOperator.ARG_MAX : BuiltinOperator.ARG_MIN;
        d.compute(TensorSpec.of("y", of), builtin, version, Options.table(options, Field.int8(0, of)));
    }

    private static void resize(Draw d, boolean isLinear) {
        TensorSpec x = d.tensor(
                d.oneOf(TensorType.INT8, TensorType.FLOAT32),
                d.between(1, 2),
                d.between(1, 7),
                d.between(1, 7),
                d.between(1, 5));
        d.input(x);
        d.add(TensorSpec.int32("size", d.between(1, 12), d.between(1, 12)));
        int mode = d.between(0, 2);
        int first = isLinear ? 2 : 0;
        byte options = isLinear ? BuiltinOptions.ResizeBilinearOptions : BuiltinOptions.ResizeNearestNeighborOptions;
        d.compute(
                d.like(x),
                isLinear ? BuiltinOperator.RESIZE_BILINEAR : BuiltinOperator.RESIZE_NEAREST_NEIGHBOR,
                3,
                Options.table(options, Field.bool(first, mode == 1), Field.bool(first + 1, mode == 2)));
    }
}
