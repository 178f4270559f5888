// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The values of a graph by name; a body of a control flow operator also sees those of the graph around it. */
public final class Scope {
    private final Optional<Scope> outer;
    private final Map<String, OnnxValue> values = new HashMap<>();
    private final Set<String> failed = new HashSet<>();

    /** @param outer the graph around; empty for a model or a function */
    public Scope(Optional<Scope> outer) {
        this.outer = outer;
    }

    /** Sets a value. Returns whether the name was free. */
    public boolean define(String name, OnnxValue value) {
        return values.put(name, value) == null;
    }

    /** Sets a value, whether or not there is one. */
    void replace(String name, OnnxValue value) {
        values.put(name, value);
    }

    /** The value of a name. */
    public Optional<OnnxValue> value(String name) {
        OnnxValue own = values.get(name);
        return own == null ? outer.flatMap(scope -> scope.value(name)) : Optional.of(own);
    }

    /** A value could not be computed, and the reason is already reported. */
    public void fail(String name) {
        failed.add(name);
    }

    /** Whether a value is missing for a reported reason. */
    public boolean isFailed(String name) {
        return failed.contains(name)
                || outer.filter(scope -> scope.isFailed(name)).isPresent();
    }
}
