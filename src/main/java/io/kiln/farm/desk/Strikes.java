// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Counts what different jobs say against a worker or a board. */
final class Strikes {
    /** How many different ones are too many. */
    static final int MOST = 3;

    private static final int MOST_UNITS = 1000;

    private final Map<String, Set<String>> against = new HashMap<>();

    /**
     * Adds one.
     *
     * @param witness what counts as different: a job, or an image
     * @return whether it was one too many; then the count begins anew
     */
    boolean add(String unit, String witness) {
        if (against.size() > MOST_UNITS) {
            against.clear();
        }
        Set<String> witnesses = against.computeIfAbsent(unit, name -> new HashSet<>());
        witnesses.add(witness);
        if (witnesses.size() < MOST) {
            return false;
        }
        against.remove(unit);
        return true;
    }

    /** Forgets them, as after a success. */
    void forget(String unit) {
        against.remove(unit);
    }
}
