// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.build;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.text.Place;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A function without bindings that another operator replaces and that nothing else reads.
 *
 * @param function with ids in order
 * @param places where its values are defined, by id
 */
public record Remaining(Function function, Map<Integer, Place> places) {
    /** Returns the function unchanged if nothing was superseded. */
    public static Remaining of(Function whole, Set<Integer> superseded, Map<Integer, Place> places) {
        if (superseded.isEmpty()) {
            return new Remaining(whole, places);
        }
        Map<Integer, Integer> uses = whole.useCounts();
        List<Binding> kept = new ArrayList<>();
        for (int i = whole.bindings().size() - 1; i >= 0; i--) {
            Binding binding = whole.bindings().get(i);
            if (superseded.contains(binding.id()) && uses.getOrDefault(binding.id(), 0) == 0) {
                binding.args().stream()
                        .filter(Arg.Ref.class::isInstance)
                        .forEach(arg -> uses.merge(((Arg.Ref) arg).id(), -1, Integer::sum));
            } else {
                kept.add(binding);
            }
        }
        Collections.reverse(kept);
        Function less = whole.withBindings(kept);
        Function ordered = less.withIdsInOrder();
        Map<Integer, Place> moved = new HashMap<>();
        for (int i = 0; i < less.params().size(); i++) {
            moved.put(
                    ordered.params().get(i).id(),
                    places.get(less.params().get(i).id()));
        }
        for (int i = 0; i < kept.size(); i++) {
            moved.put(ordered.bindings().get(i).id(), places.get(kept.get(i).id()));
        }
        return new Remaining(ordered, moved);
    }
}
