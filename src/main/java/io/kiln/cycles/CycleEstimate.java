// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles;

import io.kiln.cycles.core.CycleRange;
import java.util.List;

/**
 * The cost of executed code on a core.
 *
 * @param whole all of it
 * @param owners by owner of the blocks, from 0 on
 * @param unknown executed instructions that the core's table does not have; they are priced like arithmetic
 */
public record CycleEstimate(Cost whole, List<Cost> owners, long unknown) {
    public CycleEstimate {
        owners = List.copyOf(owners);
    }

    /**
     * The cost of a part of the code.
     *
     * @param cycles without wait states
     * @param instructions executed
     * @param codeBytes bytes of these instructions
     * @param loads instructions that load from memory
     * @param taken branches, calls and returns taken
     */
    public record Cost(CycleRange cycles, long instructions, long codeBytes, long loads, long taken) {
        /** The cost of no code. */
        public static final Cost NONE = new Cost(CycleRange.NONE, 0, 0, 0, 0);

        /** The sum of this cost and another. */
        public Cost plus(Cost other) {
            return new Cost(
                    cycles.plus(other.cycles),
                    instructions + other.instructions,
                    codeBytes + other.codeBytes,
                    loads + other.loads,
                    taken + other.taken);
        }
    }
}
