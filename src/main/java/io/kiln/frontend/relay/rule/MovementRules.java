// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.ScatterNd;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Operators that copy elements, look them up or fill tensors with them. */
final class MovementRules {
    private static final int MAX = Integer.MAX_VALUE;
    private static final int MIN = Integer.MIN_VALUE;

    private static final int MAX_AXIS = 7;
    private static final int MAX_SIZE = 1 << 15;

    static final Map<String, Rule> ALL = Map.ofEntries(
            entry("annotation.cast_hint", MovementRules::same),
            entry("annotation.stop_fusion", MovementRules::same),
            entry("broadcast_to", ElementRules::broadcast),
            entry("concatenate", MovementRules::concatenate),
            entry("copy", Rule.of(a -> new Copy())),
            entry("expand_dims", ShapeRules::expand),
            entry("full", ElementRules::full),
            entry("image.resize2d", Rule.of(MovementRules::resize)),
            entry("layout_transform", ShapeRules::layoutTransform),
            entry("nn.batch_flatten", ShapeRules::flatten),
            entry("nn.pad", PoolRules::pad),
            entry("ones", call -> ElementRules.filled(call, 1)),
            entry("reshape", ShapeRules::reshape),
            entry("scatter_nd", Rule.of(MovementRules::scatter)),
            entry("squeeze", ShapeRules::squeeze),
            entry("strided_slice", Rule.of(MovementRules::slice)),
            entry("take", Rule.of(MovementRules::take)),
            entry("transpose", ShapeRules::transpose),
            entry("zeros", call -> ElementRules.filled(call, 0)));

    private MovementRules() {}

    /** {@code concatenate} of its arguments. */
    private static Value concatenate(CallSite call) {
        int axis = call.attributes().integer("axis", -8, 7, 0);
        int rank = call.value(0).type().shape().rank();
        return call.compute(
                new Concatenate(axis < 0 ? axis + rank : axis, call.args().size()));
    }

    private static Op slice(Attributes a) {
        a.choice("slice_mode", "end");
        List<Integer> begin = a.integers("begin", MIN, MAX);
        List<Integer> ones = Collections.nCopies(begin.size(), 1);
        return new StridedSlice(begin, a.integers("end", MIN, MAX), a.integers("strides", MIN, MAX, ones));
    }

    private static Op take(Attributes a) {
        a.choice("mode", "clip");
        return new Take(a.integer("axis", 0, MAX_AXIS), a.integer("batch_dims", 0, MAX_AXIS, 0));
    }

    private static Op scatter(Attributes a) {
        String[] modes =
                Stream.of(ScatterNd.Mode.values()).map(ScatterNd.Mode::text).toArray(String[]::new);
        return new ScatterNd(ScatterNd.Mode.valueOf(a.choice("mode", modes).toUpperCase(Locale.ROOT)));
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

    /** A hint for TVM's compiler that does not change the value. */
    private static Value same(CallSite call) {
        call.attributes().ignoreOthers();
        return call.value(0);
    }
}
