// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.ir.op.ArgReduce;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Reduce;
import io.kiln.ir.op.Resize2d;
import io.kiln.ir.op.Take;
import io.kiln.ir.op.TflNormalize;
import io.kiln.ir.op.TflSum;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Operators that reduce dimensions or find elements by index, by their names in the text. */
final class ReductionOperators {
    private static final int MAX_AXIS = 7;
    private static final int MAX_SIZE = 1 << 15;

    static final Map<String, Function<Attributes, Op>> ALL = Map.ofEntries(
            Map.entry("argmax", a -> index(a, true)),
            Map.entry("argmin", a -> index(a, false)),
            Map.entry("image.resize2d", ReductionOperators::resize),
            Map.entry("max", a -> new Reduce(Reduce.Kind.MAX, axes(a), keeps(a))),
            Map.entry("mean", a -> new Reduce(Reduce.Kind.MEAN, axes(a), keeps(a))),
            Map.entry("min", a -> new Reduce(Reduce.Kind.MIN, axes(a), keeps(a))),
            Map.entry("sum", a -> new Reduce(Reduce.Kind.SUM, axes(a), keeps(a))),
            Map.entry("take", a -> {
                a.choice("mode", "clip");
                return new Take(a.integer("axis", 0, MAX_AXIS), a.integer("batch_dims", 0, MAX_AXIS, 0));
            }),
            Map.entry("tfl.l2_normalize", a -> normalize(a, TflNormalize.Kind.L2_NORMALIZE)),
            Map.entry("tfl.log_softmax", a -> normalize(a, TflNormalize.Kind.LOG_SOFTMAX)),
            Map.entry("tfl.sum", a -> new TflSum(axes(a), keeps(a))));

    private ReductionOperators() {}

    private static Op index(Attributes a, boolean largest) {
        a.integer("keepdims", 0, 0, 0);
        a.integer("select_last_index", 0, 0, 0);
        return new ArgReduce(
                largest, a.integers("axis", 0, MAX_AXIS, 1).stream().findFirst().orElse(0));
    }

    private static Op normalize(Attributes a, TflNormalize.Kind kind) {
        a.integer("axis", -1, -1, -1);
        return new TflNormalize(kind);
    }

    private static List<Integer> axes(Attributes a) {
        return a.integers("axis", 0, MAX_AXIS).stream().sorted().distinct().toList();
    }

    private static boolean keeps(Attributes a) {
        return a.integer("keepdims", 0, 1, 0) == 1;
    }

    private static Op resize(Attributes a) {
        a.choice("layout", "NHWC");
        a.choice("rounding", "TFLITE");
        List<Integer> size = a.integers("size", 1, MAX_SIZE, 2);
        return new Resize2d(
                size.isEmpty() ? 1 : size.get(0),
                size.isEmpty() ? 1 : size.get(1),
                a.choice("method", "linear", "nearest_neighbor").equals("linear"),
                a.integer("align_corners", 0, 1, 0) == 1,
                a.integer("half_pixel_centers", 0, 1, 0) == 1);
    }
}
