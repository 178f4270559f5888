// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import java.util.List;

/** Computes one element from all along some dimensions. The first argument is the data. */
public interface Reduction extends Op {
    /** The reduced dimensions, ascending, from 0 on. */
    List<Integer> axes();

    /** Whether they remain as dimensions of 1. */
    boolean keepDims();
}
