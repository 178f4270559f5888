// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

/**
 * Consecutive nodes of the graph that run together, whole or row by row.
 *
 * @param first first node
 * @param end node after the last
 * @param byRows whether they run interleaved, row by row; otherwise it is one node that runs in one call
 */
record Segment(int first, int end, boolean byRows) {
    /** The same segment with nodes numbered from its own first. */
    Segment inItsPart() {
        return new Segment(0, end - first, byRows);
    }
}
