// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.Resize2d;
import io.kiln.ir.op.Take;
import io.kiln.ir.op.TflNormalize;
import io.kiln.ir.op.TflSum;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Operators of our own that reduce dimensions, and those that find elements, by their names in the text; {@link ReduceRules} has Relay's. */
final class ReductionOperators {
    private static final int MAX_AXIS = 7;
    private static final int MAX_SIZE = 1 << 15;

    static final Map<String, Function<Attributes, Op>> ALL = Map.ofEntries(
            Map.entry("image.resize2d", ReductionOperators::resize),
            Map.entry("take", a -> {
                a.choice("mode", "clip");
                return new Take(a.integer("axis", 0, MAX_AXIS), a.integer("batch_dims", 0, MAX_AXIS, 0));
            }),
            Map.entry("tfl.l2_normalize", a -> normalize(a, TflNormalize.Kind.L2_NORMALIZE)),
            Map.entry("tfl.log_softmax", a -> normalize(a, TflNormalize.Kind.LOG_SOFTMAX)),
            Map.entry("tfl.sum", a -> new TflSum(axes(a), keeps(a))));

    private ReductionOperators() {}

    private static Op normalize(Attributes a, TflNormalize.Kind kind) {
        a.integer("axis", -1, -1, -1);
        return new TflNormalize(kind);
    }

    private static List<Integer> axes(Attributes a) {
        return a.integers("axis", 0, MAX_AXIS).stream().sorted().distinct().toList();
    }

    private static boolean keeps(Attributes a) {
        return a.truth("keepdims", false);
    }

    private static Op resize(Attributes a) {
        a.choice("layout", "NHWC");
        a.choice("rounding", "TFLITE");
        List<Integer> size = a.integers("size", 1, MAX_SIZE, 2);
        return new Resize2d(
                size.isEmpty() ? 1 : size.get(0),
                size.isEmpty() ? 1 : size.get(1),
                a.choice("method", "linear", "nearest_neighbor").equals("linear"),
                a.truth("align_corners", false),
                a.truth("half_pixel_centers", false));
    }
}
