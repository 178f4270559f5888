// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Operators that only copy elements. */
final class MovementOperators {
    static final List<OperatorCases> ALL = List.of(
            OperatorCases.of("TRANSPOSE", MovementOperators::transpose),
            OperatorCases.of("SLICE", MovementOperators::slice),
            OperatorCases.of("PAD", d -> pad(d, false)),
            OperatorCases.of("PADV2", d -> pad(d, true)),
            OperatorCases.of("MIRROR_PAD", MovementOperators::mirror),
            OperatorCases.of("CONCATENATION", d -> concatenation(d, any(d, d.shape(1, 4)))),
            OperatorCases.of("CONCATENATION_UINT64", d -> concatenation(d, d.tensor(TensorType.UINT64, d.shape(1, 4))))
                    .withoutOracle("TensorFlow Lite has no kernel for uint64"),
            OperatorCases.of("PACK", MovementOperators::pack),
            OperatorCases.of("UNPACK", MovementOperators::unpack),
            OperatorCases.of("SPLIT", MovementOperators::split),
            OperatorCases.of("SPLIT_V", MovementOperators::splitIntoSizes),
            OperatorCases.of("REVERSE_V2", MovementOperators::reverse),
            OperatorCases.of("EXPAND_DIMS", MovementOperators::expand),
            OperatorCases.of("SQUEEZE", MovementOperators::squeeze),
            OperatorCases.of("BROADCAST_TO", MovementOperators::broadcast));

    private MovementOperators() {}

    private static void transpose(Draw d) {
        TensorSpec x = any(d, d.shape(1, 4));
        List<Integer> axes =
                new ArrayList<>(IntStream.range(0, x.rank()).boxed().toList());
        Collections.shuffle(axes, new Random(d.between(0, 1000)));
        d.input(x);
        d.add(TensorSpec.int32("order", axes));
        d.compute(d.like(x), BuiltinOperator.TRANSPOSE, 2, Options.none());
    }

    private static void slice(Draw d) {
        TensorSpec x = any(d, d.shape(1, 4));
        List<Integer> begin = new ArrayList<>();
        List<Integer> size = new ArrayList<>();
        for (int whole : x.shape()) {
            int first = d.between(0, whole - 1);
            int own = d.between(1, whole - first);
            begin.add(first);
            size.add(first + own == whole && d.coin() ? -1 : own);
        }
        d.input(x);
        d.add(TensorSpec.int32("begin", begin));
        d.add(TensorSpec.int32("size", size));
        d.compute(d.like(x), BuiltinOperator.SLICE, 2, Options.none());
    }

    private static void mirror(Draw d) {
        TensorSpec x = d.tensor(d.oneOf(TensorType.INT8, TensorType.FLOAT32), d.shape(1, 3));
        int mode = d.between(0, 1);
        int[] widths = new int[2 * x.rank()];
        for (int i = 0; i < widths.length; i++) {
            widths[i] = d.between(0, x.shape().get(i / 2) - (mode == 0 ? 1 : 0));
        }
        d.input(x);
        d.add(paddings(widths));
        Options options = Options.table(BuiltinOptions.MirrorPadOptions, Field.int8(0, mode));
        d.compute(d.like(x), BuiltinOperator.MIRROR_PAD, 1, options);
    }

    private static void pack(Draw d) {
        TensorSpec x = any(d, d.shape(1, 3));
        int axis = d.between(0, x.rank());
        int count = d.between(1, 4);
        for (int i = 0; i < count; i++) {
            d.input(d.like(x, x.shape()));
        }
        Options options = Options.table(BuiltinOptions.PackOptions, Field.int32(0, count), Field.int32(1, axis));
        d.compute(d.like(x), BuiltinOperator.PACK, 2, options);
    }

    private static void unpack(Draw d) {
        TensorSpec x = any(d, d.shape(2, 4));
        int axis = d.between(0, x.rank() - 1);
        int parts = x.shape().get(axis);
        int in = d.input(x);
        for (int i = 0; i < parts; i++) {
            d.result(d.like(x));
        }
        Options options = Options.table(BuiltinOptions.UnpackOptions, Field.int32(0, parts), Field.int32(1, axis));
        d.operator(BuiltinOperator.UNPACK, 2, options, in);
    }

    private static void split(Draw d) {
        int parts = d.between(1, 3);
        int[] shape = d.shape(1, 4);
        int axis = d.between(0, shape.length - 1);
        TensorSpec part = any(d, shape);
        shape[axis] *= parts;
        int[] in = {d.add(TensorSpec.int32("axis", axis)), d.input(d.like(part, shape))};
        for (int i = 0; i < parts; i++) {
            d.result(d.like(part));
        }
        d.operator(BuiltinOperator.SPLIT, 2, Options.table(BuiltinOptions.SplitOptions, Field.int32(0, parts)), in);
    }

    private static void splitIntoSizes(Draw d) {
        TensorSpec x = any(d, d.shape(1, 4));
        int axis = d.between(0, x.rank() - 1);
        int size = x.shape().get(axis);
        int first = d.between(1, size);
        int[] sizes = first == size ? new int[] {size} : new int[] {first, d.coin() ? -1 : size - first};
        int[] in = {d.input(x), d.add(TensorSpec.int32("sizes", sizes)), d.add(TensorSpec.int32("axis", axis))};
        for (int i = 0; i < sizes.length; i++) {
            d.result(d.like(x));
        }
        Options options = Options.table(BuiltinOptions.SplitVOptions, Field.int32(0, sizes.length));
        d.operator(BuiltinOperator.SPLIT_V, 1, options, in);
    }

    private static void reverse(Draw d) {
        TensorSpec x = d.tensor(d.oneOf(TensorType.FLOAT32, TensorType.INT32, TensorType.INT16), d.shape(1, 4));
        d.input(x);
        d.add(TensorSpec.int32("axis", d.between(0, x.rank() - 1)));
        d.compute(d.like(x), BuiltinOperator.REVERSE_V2, 1, Options.none());
    }

    private static void expand(Draw d) {
        TensorSpec x = any(d, d.shape(1, 3));
        d.input(x);
        d.add(TensorSpec.int32("axis", d.between(-x.rank() - 1, x.rank())));
        d.compute(d.like(x), BuiltinOperator.EXPAND_DIMS, 1, Options.none());
    }

    private static void squeeze(Draw d) {
        TensorSpec x = any(d, 1, d.between(2, 5), 1, d.between(2, 5));
        int[] axes = d.oneOf(new int[0], new int[] {0}, new int[] {2}, new int[] {-4, 2});
        d.input(x);
        Options options = Options.table(BuiltinOptions.SqueezeOptions, Field.ints(0, axes));
        d.compute(d.like(x), BuiltinOperator.SQUEEZE, 1, options);
    }

    private static void broadcast(Draw d) {
        int[] shape = d.shape(1, 4);
        TensorSpec x = any(d, d.broadcastsTo(shape));
        d.input(x);
        d.add(TensorSpec.int32("shape", shape));
        d.compute(d.like(x), BuiltinOperator.BROADCAST_TO, 2, Options.none());
    }

    private static void pad(Draw d, boolean hasValue) {
        TensorSpec x = d.tensor(
                d.oneOf(TensorType.INT8, TensorType.FLOAT32, TensorType.INT16, TensorType.INT32), d.shape(1, 4));
        d.input(x);
        d.add(paddings(d.numbers(2 * x.rank(), 0, 2)));
        if (hasValue) {
            d.add(d.constant(d.like(x, 1)));
        }
        d.compute(d.like(x), hasValue ? BuiltinOperator.PADV2 : BuiltinOperator.PAD, 2, Options.none());
    }

    private static void concatenation(Draw d, TensorSpec x) {
        int axis = d.between(0, x.rank() - 1);
        int count = d.between(1, 4);
        for (int i = 0; i < count; i++) {
            List<Integer> dims = new ArrayList<>(x.shape());
            dims.set(axis, d.between(1, 4));
            TensorSpec part = d.like(x, dims);
            if (i == 0) {
                d.input(part);
            } else {
                d.inputOrConstant(part);
            }
        }
        TensorSpec joined = d.like(x);
        int stated = d.coin() ? axis : axis - x.rank();
        Options options = Options.table(BuiltinOptions.ConcatenationOptions, Field.int32(0, stated), Field.int8(1, 0));
        d.compute(joined, BuiltinOperator.CONCATENATION, 2, options);
    }

    static TensorSpec paddings(int... widths) {
        return TensorSpec.int32("paddings", widths).withShape(List.of(widths.length / 2, 2));
    }

    /** Of a type that all these operators take. */
    static TensorSpec any(Draw d, int... shape) {
        return d.tensor(d.oneOf(TensorType.INT8, TensorType.FLOAT32, TensorType.INT16, TensorType.INT32), shape);
    }
}
