// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Operators that only copy elements. */
final class MovementOperators {
    static final OperatorCases TRANSPOSE = OperatorCases.of("TRANSPOSE", d -> {
        TensorSpec x = any(d, d.shape(1, 4));
        List<Integer> axes = new ArrayList<>();
        for (int i = 0; i < x.shape().size(); i++) {
            axes.add(i);
        }
        Collections.shuffle(axes, new Random(d.between(0, 1000)));
        int in = d.input(x);
        int order = d.add(TensorSpec.int32("order", array(axes)));
        d.output(d.like(x, array(axes.stream().map(x.shape()::get).toList())));
        d.operator(BuiltinOperator.TRANSPOSE, 2, Options.none(), in, order);
    });

    static final OperatorCases SLICE = OperatorCases.of("SLICE", d -> {
        TensorSpec x = any(d, d.shape(1, 4));
        int rank = x.shape().size();
        int[] begin = new int[rank];
        int[] size = new int[rank];
        int[] dims = new int[rank];
        for (int i = 0; i < rank; i++) {
            begin[i] = d.between(0, x.shape().get(i) - 1);
            dims[i] = d.between(1, x.shape().get(i) - begin[i]);
            size[i] = begin[i] + dims[i] == x.shape().get(i) && d.coin() ? -1 : dims[i];
        }
        int[] in = {d.input(x), d.add(TensorSpec.int32("begin", begin)), d.add(TensorSpec.int32("size", size))};
        d.output(d.like(x, dims));
        d.operator(BuiltinOperator.SLICE, 2, Options.none(), in);
    });

    static final OperatorCases PAD = OperatorCases.of("PAD", d -> pad(d, false));
    static final OperatorCases PADV2 = OperatorCases.of("PADV2", d -> pad(d, true));

    static final OperatorCases MIRROR_PAD = OperatorCases.of("MIRROR_PAD", d -> {
        TensorSpec x = of(d, d.oneOf(TensorType.INT8, TensorType.FLOAT32), d.shape(1, 3));
        int mode = d.between(0, 1);
        int rank = x.shape().size();
        int[] widths = new int[2 * rank];
        int[] dims = new int[rank];
        for (int i = 0; i < rank; i++) {
            int most = x.shape().get(i) - (mode == 0 ? 1 : 0);
            widths[2 * i] = d.between(0, most);
            widths[2 * i + 1] = d.between(0, most);
            dims[i] = x.shape().get(i) + widths[2 * i] + widths[2 * i + 1];
        }
        int[] in = {d.input(x), d.add(paddings(widths))};
        d.output(d.like(x, dims));
        d.operator(
                BuiltinOperator.MIRROR_PAD, 1, Options.table(BuiltinOptions.MirrorPadOptions, Field.int8(0, mode)), in);
    });

    static final OperatorCases CONCATENATION =
            OperatorCases.of("CONCATENATION", d -> concatenation(d, any(d, d.shape(1, 4))));

    static final OperatorCases CONCATENATION_UINT64 = OperatorCases.of(
                    "CONCATENATION_UINT64", d -> concatenation(d, of(d, TensorType.UINT64, d.shape(1, 4))))
            .withoutOracle("TensorFlow Lite has no kernel for uint64");

    static final OperatorCases PACK = OperatorCases.of("PACK", d -> {
        TensorSpec x = any(d, d.shape(1, 3));
        int axis = d.between(0, x.shape().size());
        int[] in = new int[d.between(1, 4)];
        for (int i = 0; i < in.length; i++) {
            in[i] = d.input(d.like(x, array(x.shape())));
        }
        List<Integer> dims = new ArrayList<>(x.shape());
        dims.add(axis, in.length);
        d.output(d.like(x, array(dims)));
        d.operator(
                BuiltinOperator.PACK,
                2,
                Options.table(BuiltinOptions.PackOptions, Field.int32(0, in.length), Field.int32(1, axis)),
                in);
    });

    static final OperatorCases UNPACK = OperatorCases.of("UNPACK", d -> {
        TensorSpec x = any(d, d.shape(2, 4));
        int axis = d.between(0, x.shape().size() - 1);
        int parts = x.shape().get(axis);
        int in = d.input(x);
        List<Integer> dims = new ArrayList<>(x.shape());
        dims.remove(axis);
        for (int i = 0; i < parts; i++) {
            d.output(d.like(x, array(dims)));
        }
        d.operator(
                BuiltinOperator.UNPACK,
                2,
                Options.table(BuiltinOptions.UnpackOptions, Field.int32(0, parts), Field.int32(1, axis)),
                in);
    });

    static final OperatorCases SPLIT = OperatorCases.of("SPLIT", d -> {
        int parts = d.between(1, 3);
        int[] shape = d.shape(1, 4);
        int axis = d.between(0, shape.length - 1);
        TensorSpec part = any(d, shape);
        shape[axis] *= parts;
        int[] in = {d.add(TensorSpec.int32("axis", axis)), d.input(d.like(part, shape))};
        for (int i = 0; i < parts; i++) {
            d.output(d.like(part, array(part.shape())));
        }
        d.operator(BuiltinOperator.SPLIT, 2, Options.table(BuiltinOptions.SplitOptions, Field.int32(0, parts)), in);
    });

    static final OperatorCases SPLIT_V = OperatorCases.of("SPLIT_V", d -> {
        TensorSpec x = any(d, d.shape(1, 4));
        int axis = d.between(0, x.shape().size() - 1);
        int size = x.shape().get(axis);
        int first = d.between(1, size);
        int[] sizes = first == size ? new int[] {size} : new int[] {first, d.coin() ? -1 : size - first};
        int[] in = {d.input(x), d.add(TensorSpec.int32("sizes", sizes)), d.add(TensorSpec.int32("axis", axis))};
        for (int i = 0; i < sizes.length; i++) {
            int[] dims = array(x.shape());
            dims[axis] = i == 0 ? first : size - first;
            d.output(d.like(x, dims));
        }
        d.operator(
                BuiltinOperator.SPLIT_V,
                1,
                Options.table(BuiltinOptions.SplitVOptions, Field.int32(0, sizes.length)),
                in);
    });

    static final OperatorCases REVERSE = OperatorCases.of("REVERSE_V2", d -> {
        TensorSpec x = of(d, d.oneOf(TensorType.FLOAT32, TensorType.INT32, TensorType.INT16), d.shape(1, 4));
        int[] in = {
            d.input(x), d.add(TensorSpec.int32("axis", d.between(0, x.shape().size() - 1)))
        };
        d.output(d.like(x, array(x.shape())));
        d.operator(BuiltinOperator.REVERSE_V2, 1, Options.none(), in);
    });

    static final OperatorCases EXPAND_DIMS = OperatorCases.of("EXPAND_DIMS", d -> {
        TensorSpec x = any(d, d.shape(1, 3));
        int axis = d.between(-x.shape().size() - 1, x.shape().size());
        List<Integer> dims = new ArrayList<>(x.shape());
        dims.add(axis < 0 ? axis + dims.size() + 1 : axis, 1);
        int[] in = {d.input(x), d.add(TensorSpec.int32("axis", axis))};
        d.output(d.like(x, array(dims)));
        d.operator(BuiltinOperator.EXPAND_DIMS, 1, Options.none(), in);
    });

    static final OperatorCases SQUEEZE = OperatorCases.of("SQUEEZE", d -> {
        TensorSpec x = any(d, 1, d.between(2, 5), 1, d.between(2, 5));
        int[] axes = d.oneOf(new int[0], new int[] {0}, new int[] {2}, new int[] {-4, 2});
        List<Integer> dims = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            boolean stated = false;
            for (int axis : axes) {
                stated |= (axis + 4) % 4 == i;
            }
            if (axes.length == 0 ? x.shape().get(i) != 1 : !stated) {
                dims.add(x.shape().get(i));
            }
        }
        int in = d.input(x);
        d.output(d.like(x, array(dims)));
        d.operator(BuiltinOperator.SQUEEZE, 1, Options.table(BuiltinOptions.SqueezeOptions, Field.ints(0, axes)), in);
    });

    static final OperatorCases BROADCAST_TO = OperatorCases.of("BROADCAST_TO", d -> {
        int[] shape = d.shape(1, 4);
        TensorSpec x = any(d, d.broadcastsTo(shape));
        int[] in = {d.input(x), d.add(TensorSpec.int32("shape", shape))};
        d.output(d.like(x, shape));
        d.operator(BuiltinOperator.BROADCAST_TO, 2, Options.none(), in);
    });

    static final List<OperatorCases> ALL = List.of(
            TRANSPOSE,
            SLICE,
            PAD,
            PADV2,
            MIRROR_PAD,
            CONCATENATION,
            CONCATENATION_UINT64,
            PACK,
            UNPACK,
            SPLIT,
            SPLIT_V,
            REVERSE,
            EXPAND_DIMS,
            SQUEEZE,
            BROADCAST_TO);

    private MovementOperators() {}

    private static void pad(Draw d, boolean hasValue) {
        TensorSpec x =
                of(d, d.oneOf(TensorType.INT8, TensorType.FLOAT32, TensorType.INT16, TensorType.INT32), d.shape(1, 4));
        int rank = x.shape().size();
        int[] widths = new int[2 * rank];
        int[] dims = new int[rank];
        for (int i = 0; i < rank; i++) {
            widths[2 * i] = d.between(0, 2);
            widths[2 * i + 1] = d.between(0, 2);
            dims[i] = x.shape().get(i) + widths[2 * i] + widths[2 * i + 1];
        }
        int data = d.input(x);
        int paddings = d.add(paddings(widths));
        int[] in = hasValue ? new int[] {data, paddings, d.add(d.constant(d.like(x, 1)))} : new int[] {data, paddings};
        d.output(d.like(x, dims));
        d.operator(hasValue ? BuiltinOperator.PADV2 : BuiltinOperator.PAD, 2, Options.none(), in);
    }

    private static void concatenation(Draw d, TensorSpec x) {
        int axis = d.between(0, x.shape().size() - 1);
        int[] in = new int[d.between(1, 4)];
        int size = 0;
        for (int i = 0; i < in.length; i++) {
            int[] dims = array(x.shape());
            dims[axis] = d.between(1, 4);
            size += dims[axis];
            TensorSpec part = d.like(x, dims);
            in[i] = i == 0 ? d.input(part) : d.inputOrConstant(part);
        }
        int[] dims = array(x.shape());
        dims[axis] = size;
        d.output(d.like(x, dims));
        int stated = d.coin() ? axis : axis - dims.length;
        d.operator(
                BuiltinOperator.CONCATENATION,
                2,
                Options.table(BuiltinOptions.ConcatenationOptions, Field.int32(0, stated), Field.int8(1, 0)),
                in);
    }

    static TensorSpec paddings(int... widths) {
        TensorSpec flat = TensorSpec.int32("paddings", widths);
        return TensorSpec.of("paddings", TensorType.INT32, widths.length / 2, 2)
                .withData(flat.data().toArray());
    }

    /** Of a type that all these operators take. */
    static TensorSpec any(Draw d, int... shape) {
        return of(d, d.oneOf(TensorType.INT8, TensorType.FLOAT32, TensorType.INT16, TensorType.INT32), shape);
    }

    static TensorSpec of(Draw d, byte type, int... shape) {
        return d.tensor(type, shape);
    }

    static int[] array(List<Integer> values) {
        return values.stream().mapToInt(Integer::intValue).toArray();
    }
}
