// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

/**
 * Estimated cycles with what the board's memories make the core wait.
 *
 * @param zeroWait without that
 * @param fetchStalls for code
 * @param dataStalls for constants
 * @param expected all three, and what chips were measured to take more
 * @param low the least
 * @param high the most
 */
public record BoardCycles(long zeroWait, long fetchStalls, long dataStalls, long expected, long low, long high) {
}
