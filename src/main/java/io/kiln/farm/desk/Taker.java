// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

import java.util.Set;

/**
 * A thread of a worker that takes jobs.
 *
 * @param worker name of the worker; empty if it does not say
 * @param slot the probe of its board, or the number of an emulator
 * @param place where its images run, as messages have it
 * @param boards ids of the boards that it has
 */
public record Taker(String worker, String slot, String place, Set<String> boards) {
    public Taker {
        boards = Set.copyOf(boards);
    }

    /** Name of the slot in holds. */
    String unit() {
        return worker + "/" + slot;
    }

    boolean fits(String jobsPlace, String board) {
        return place.equals(jobsPlace) && boards.contains(board);
    }
}
