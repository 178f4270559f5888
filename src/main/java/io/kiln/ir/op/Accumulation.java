// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import java.util.Set;

/**
 * An operator without weights whose sums of int8 or int16 data are wider than the data, so that only a rescaling can
 * follow.
 */
public interface Accumulation extends Op {
    @Override
    default Set<Trait> traits() {
        return Set.of(Trait.TAKES_CLIP, Trait.ACCUMULATES);
    }
}
