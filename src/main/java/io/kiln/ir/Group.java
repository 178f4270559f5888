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

    /**
     * Marks a group as a function of another code generator, in Relay's terms.
     *
     * @param compiler name of the code generator ({@code Compiler}), such as {@code cmsis-nn}
     * @param name name of the composite ({@code Composite}), such as {@code cmsis-nn.qnn_conv2d}
     * @param pattern Relay names of its operators, each followed by {@code _} ({@code PartitionedFromPattern})
     */
    public record Composite(String compiler, String name, String pattern) {}
}
