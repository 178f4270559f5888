// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import java.util.Set;

/** An operator whose every element is a copy of an element of an argument, or a constant: nothing is computed, and nothing limited. */
public interface Movement extends Op {
    @Override
    default Set<Trait> traits() {
        return Set.of();
    }
}
