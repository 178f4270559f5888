// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.op.movement.Concatenate;
import java.util.Map;

/** Operators that copy elements, look them up or fill tensors with them. */
final class MovementRules {
    static final Map<String, Rule> ALL = Map.ofEntries(
            entry("annotation.cast_hint", MovementRules::same),
            entry("annotation.stop_fusion", MovementRules::same),
            entry("broadcast_to", ElementRules::broadcast),
            entry("concatenate", MovementRules::concatenate),
            entry("expand_dims", ShapeRules::expand),
            entry("full", ElementRules::full),
            entry("layout_transform", ShapeRules::layoutTransform),
            entry("nn.batch_flatten", ShapeRules::flatten),
            entry("nn.pad", PoolRules::pad),
            entry("ones", call -> ElementRules.filled(call, 1)),
            entry("reshape", ShapeRules::reshape),
            entry("squeeze", ShapeRules::squeeze),
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

    /** A hint for TVM's compiler that does not change the value. */
    private static Value same(CallSite call) {
        call.attributes().ignoreOthers();
        return call.value(0);
    }
}
