// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

/**
 * How long a memory makes the core wait, as the board's start-up code sets it up.
 *
 * @param states further cycles of each access that no cache answers
 * @param lineBytes bytes that one access reads
 * @param prefetch whether the next line is read while the core works on one
 */
public record MemoryWait(int states, int lineBytes, boolean prefetch) {
    private static final int LARGEST_INSTRUCTION = 4;

    /**
     * The most cycles that an execution can wait, if no cache ever helps.
     *
     * @param codeBytes bytes of all executed instructions
     * @param taken branches taken
     * @param loads instructions that load; all of them from this memory
     */
    public long stallsAtMost(long codeBytes, long taken, long loads) {
        // While a line is executed, at an instruction a cycle, the next one is on its way.
        int hidden = prefetch ? lineBytes / LARGEST_INSTRUCTION : 0;
        long lines = codeBytes / lineBytes;
        return lines * Math.max(0, states - hidden) + (taken + loads) * states;
    }
}
