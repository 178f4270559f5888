// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.build;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Origin;
import io.kiln.ir.op.Op;
import io.kiln.ir.text.Place;
import io.kiln.ir.text.RelaySyntax.Annotations;
import io.kiln.ir.text.RelaySyntax.Call;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The operators of a function while its text is read, the places of its values, and what is left of the operators in the end. */
public final class Bindings {
    private final String file;
    private final GraphBuilder graph;
    private final Map<Integer, Place> places = new HashMap<>();
    private final Set<Integer> superseded = new HashSet<>();

    /**
     * @param file the text's name in origins
     */
    Bindings(String file, GraphBuilder graph) {
        this.file = file;
        this.graph = graph;
    }

    public GraphBuilder graph() {
        return graph;
    }

    /** Where a value is defined. */
    public Place place(int id) {
        return places.get(id);
    }

    /** States where a value is defined. */
    Arg.Ref at(Place place, Arg.Ref value) {
        places.put(value.id(), place);
        return value;
    }

    /** Marks the operator that computes a value as replaced by another. */
    void supersede(Arg arg) {
        if (arg instanceof Arg.Ref ref) {
            superseded.add(ref.id());
        }
    }

    /**
     * Appends an operator. An operator on constants only is evaluated at once, unless Kiln itself printed the call as
     * an operator.
     *
     * @param name the result's name, for origins
     * @throws IllegalArgumentException if the arguments do not fit the operator, or the result is too large
     */
    Arg emit(Call call, String name, Op op, List<? extends Arg> args) {
        Optional<Origin> printed = Annotations.origin(call.comment());
        if (printed.isPresent()) {
            return at(call.place(), graph.call(op, args, printed.orElseThrow()));
        }
        Origin origin = new Origin(file, graph.bindings().size(), op.name(), name);
        Arg result = graph.emit(op, args, origin, where(call, op));
        return result instanceof Arg.Ref ref ? at(call.place(), ref) : result;
    }

    /** An operator that moves the elements of a constant, evaluated at once. */
    Constant moved(Call call, Op op, Constant constant) {
        Origin origin = new Origin(file, graph.bindings().size(), op.name(), "");
        return (Constant) graph.emit(op, List.of(constant), origin, where(call, op));
    }

    private String where(Call call, Op op) {
        return call.place().in(file) + ": " + op.name();
    }

    /** The function without operators that another one replaces and that nothing else reads. */
    public Function remaining(Function whole) {
        Map<Integer, Integer> uses = whole.useCounts();
        List<Binding> kept = new ArrayList<>();
        for (int i = whole.bindings().size() - 1; i >= 0; i--) {
            Binding binding = whole.bindings().get(i);
            if (superseded.contains(binding.id()) && uses.getOrDefault(binding.id(), 0) == 0) {
                binding.reads().forEach(id -> uses.merge(id, -1, Integer::sum));
            } else {
                kept.add(binding);
            }
        }
        Collections.reverse(kept);
        return whole.withBindings(kept);
    }
}
