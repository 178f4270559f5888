// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.build;

import io.kiln.frontend.relay.rule.Split;
import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Findings;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.text.RelaySyntax.Attribute;
import io.kiln.ir.text.RelaySyntax.Call;
import io.kiln.ir.text.RelaySyntax.Expression;
import io.kiln.ir.text.RelaySyntax.Local;
import io.kiln.ir.text.RelaySyntax.Projection;
import io.kiln.ir.text.RelaySyntax.Tuple;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;

/** Tuples of the text, by name, and the results of {@code split}. The IR has only single values. */
final class Tuples {
    /** Makes the call site that a rule reads. */
    interface Sites {
        CallSite of(Call call, List<Value> args, String name, Attributes attributes);
    }

    private final BiFunction<Expression, String, Optional<Value>> single;
    private final Sites sites;
    private final LiteralReader literals;
    private final Findings findings;
    private final Map<String, List<Optional<Value>>> byName = new HashMap<>();

    /**
     * @param single reads an expression with one value, given its name
     * @param literals reads numbers of attributes
     */
    Tuples(
            BiFunction<Expression, String, Optional<Value>> single,
            Sites sites,
            LiteralReader literals,
            Findings findings) {
        this.single = single;
        this.sites = sites;
        this.literals = literals;
        this.findings = findings;
    }

    void define(String name, List<Optional<Value>> elements) {
        byName.put(name, elements);
    }

    boolean isTuple(Expression expression) {
        return expression instanceof Tuple
                || (expression instanceof Local local && byName.containsKey(local.name()))
                || (expression instanceof Call call && call.operator().equals(Split.NAME));
    }

    /** The elements of a tuple; anything else is its only element. */
    List<Optional<Value>> values(Expression expression, String name) {
        if (expression instanceof Tuple tuple) {
            return tuple.elements().stream().map(e -> single.apply(e, name)).toList();
        }
        if (expression instanceof Local local && byName.containsKey(local.name())) {
            return byName.get(local.name());
        }
        if (expression instanceof Call call && call.operator().equals(Split.NAME)) {
            return split(call, name);
        }
        return List.of(single.apply(expression, name));
    }

    private List<Optional<Value>> split(Call call, String name) {
        int before = findings.count();
        List<Optional<Value>> data =
                call.args().stream().map(arg -> single.apply(arg, name)).toList();
        List<Attribute> unboxed = literals.unboxed(call.attributes());
        Attributes attributes = new Attributes(call.operator(), call.place(), unboxed, findings);
        if (findings.count() > before || !data.stream().allMatch(Optional::isPresent)) {
            return List.of();
        }
        try {
            List<Value> args = data.stream().map(Optional::get).toList();
            List<Value> parts = Split.parts(sites.of(call, args, name, attributes));
            attributes.refuseOthers();
            return parts.stream().map(Optional::of).toList();
        } catch (IllegalArgumentException e) {
            if (findings.count() == before) {
                findings.add(call.place(), call.operator() + ": " + e.getMessage(), "arguments that fit", "");
            }
            return List.of();
        }
    }

    /** {@code tuple.index}. */
    Optional<Value> projection(Projection projection, String name) {
        int before = findings.count();
        boolean isTuple = isTuple(projection.tuple());
        List<Optional<Value>> elements = values(projection.tuple(), name);
        if (projection.index() < elements.size() && isTuple) {
            return elements.get(projection.index());
        }
        if (findings.count() == before && !elements.isEmpty()) {
            findings.add(
                    projection.place(),
                    "there is no element " + projection.index() + " of it",
                    isTuple ? "an index below " + elements.size() : "a tuple",
                    "");
        }
        return Optional.empty();
    }

    /** Whether a name is a tuple's, or {@code %name.0} of one. */
    boolean knows(Local local) {
        return byName.containsKey(local.name()) || byName.containsKey(stem(local));
    }

    /** The element of this name; a tuple itself is not supported where one value is needed. */
    Optional<Value> local(Local local) {
        String index = local.name()
                .substring(Math.min(local.name().length(), stem(local).length() + 1));
        if (byName.containsKey(local.name()) || !index.matches("[0-9]{1,9}")) {
            findings.add(
                    local.place(), "%" + local.name() + " is a tuple", "a tensor, such as one of its elements", "");
            return Optional.empty();
        }
        Local tuple = new Local(stem(local), local.place(), local.comment());
        return projection(new Projection(tuple, Integer.parseInt(index), local.place(), local.comment()), "");
    }

    private static String stem(Local local) {
        int point = local.name().lastIndexOf('.');
        return point < 0 ? local.name() : local.name().substring(0, point);
    }
}
