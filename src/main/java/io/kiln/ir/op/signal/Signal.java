// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import java.util.Set;

/**
 * An operator of TensorFlow Lite Micro's library of signal processing. In the file these are custom operators. The first argument is the
 * data; what it computes beside its result, and what it remembers, are variables among the arguments.
 */
public interface Signal extends Op {
    @Override
    default Set<Trait> traits() {
        return Set.of();
    }
}
