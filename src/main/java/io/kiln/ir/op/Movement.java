// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import java.util.Set;

/** An operator whose elements are copies of an argument's elements, or of a constant, without arithmetic. */
public interface Movement extends Op {
    @Override
    default Set<Trait> traits() {
        return Set.of();
    }
}
