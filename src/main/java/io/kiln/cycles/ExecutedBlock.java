// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles;

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
