// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import java.util.List;
import java.util.Optional;

/**
 * Bindings that are lowered to one operator function. All but the last are used by the group alone.
 *
 * @param name Relay names of the operators joined by {@code _}, dots replaced, as in microTVM's function names
 * @param bindings ids in execution order
 * @param composite which code generator takes it; empty for Kiln's own
 */
public record Group(String name, List<Integer> bindings, Optional<Composite> composite) {
    public Group {
        bindings = List.copyOf(bindings);
    }

    /** A group of Kiln's own. */
    public Group(String name, List<Integer> bindings) {
        this(name, bindings, Optional.empty());
    }

    /** Id of the value that the group computes. */
    public int output() {
        return bindings.get(bindings.size() - 1);
    }
}
