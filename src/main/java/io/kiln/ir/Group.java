// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import java.util.List;

/**
 * Bindings that are lowered to one operator function. All but the last are used by the group alone.
 *
 * @param name Relay names of the operators joined by {@code _}, dots replaced, as in microTVM's function names
 * @param bindings ids in execution order
 */
public record Group(String name, List<Integer> bindings) {
    public Group {
        bindings = List.copyOf(bindings);
    }

    /** Id of the value that the group computes. */
    public int output() {
        return bindings.get(bindings.size() - 1);
    }
}
