// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import java.util.Set;

/**
 * An operator of TensorFlow Lite Micro's signal processing library; a custom operator in the file. The first argument
 * is the data; further results, and the state, are variables among the arguments.
 */
public interface Signal extends Op {
    @Override
    default Set<Trait> traits() {
        return Set.of();
    }
}
