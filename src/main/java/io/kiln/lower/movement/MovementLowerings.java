// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.movement;

import static io.kiln.lower.OperatorLowering.entry;
import static io.kiln.lower.OperatorLowering.simple;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.ScatterNd;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.TflDynamicUpdateSlice;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.OperatorLowering;
import java.util.List;
import java.util.Map;

/** Lowerings of the operators that copy elements. */
public final class MovementLowerings {
    public static final Map<Class<? extends Op>, OperatorLowering<Op>> ALL = Map.ofEntries(
            boxes(Transpose.class, Boxes::transposed),
            boxes(StridedSlice.class, Boxes::slice),
            boxes(BroadcastTo.class, Boxes::broadcast),
            boxes(Pad.class, Boxes::padded),
            boxes(Concatenate.class, Boxes::parts),
            simple(Take.class, TakeLowering::lower),
            simple(ScatterNd.class, ScatterLowering::lower),
            simple(TflDynamicUpdateSlice.class, (op, rows) -> new UpdateSliceLowering(op).lower(rows)));

    private MovementLowerings() {}

    /** The boxes that make up the output of an operator; none overlap. */
    private interface BoxRule<O extends Op> {
        List<Box> of(O op, List<TensorType> args, Shape out);
    }

    private static <O extends Op> Map.Entry<Class<? extends Op>, OperatorLowering<Op>> boxes(
            Class<O> root, BoxRule<O> rule) {
        return entry(root, (op, movement, rows, context) -> {
            List<Box> boxes = rule.of(movement, op.rootTypes(), op.type().shape());
            return new MovementLowering(
                            op, boxes.stream().filter(box -> !box.isEmpty()).toList())
                    .lower(rows);
        });
    }
}
