// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import java.util.List;

/**
 * Times of a model on a board.
 *
 * @param seconds with the AOT executor one entry, for whole runs; with a graph an entry for each node: mean seconds of one call in each block, 0
 *     where nothing runs
 */
public record RunTimes(List<List<Double>> seconds) {
    public RunTimes {
        seconds = seconds.stream().map(List::copyOf).toList();
    }
}
