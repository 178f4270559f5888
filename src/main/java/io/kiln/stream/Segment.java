// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

/**
 * Nodes that follow each other.
 *
 * @param first node
 * @param end node after the last
 * @param byRows whether they run interleaved, row by row; else it is one node that runs in one call
 */
record Segment(int first, int end, boolean byRows) {}
