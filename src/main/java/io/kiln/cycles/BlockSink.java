// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles;

/** Is told of executed blocks one by one, in the order of their execution. */
public interface BlockSink {
    /** For those who need no order. */
    BlockSink NONE = (owner, start, instructions, before, behind) -> {};

    /**
     * A block was executed from its first instruction to its last.
     *
     * @param owner what the caller counts separately, as in {@link ExecutedBlock}
     * @param start address of the first instruction
     * @param instructions how many
     * @param before the core's registers before the first, 16 or 32, not to be kept or changed; empty if they are not known
     * @param behind those behind the last, likewise
     */
    void executed(int owner, long start, int instructions, int[] before, int[] behind);

    /**
     * Consecutive instructions that were executed one after the other, from the first to the last.
     *
     * @param owner what the caller counts separately, such as an operator's index; 0 or more
     * @param start address of the first instruction
     * @param instructions how many
     * @param count how often they were executed
     * @param taken how often the instruction after the last was not the next in memory
     */
    public record ExecutedBlock(int owner, long start, int instructions, long count, long taken) {}
}
