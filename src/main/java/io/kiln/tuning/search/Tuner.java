// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import java.util.List;

/**
 * A search for the best point of a space. It proposes every point once at most. Equal seeds and equal scores give equal proposals.
 */
public interface Tuner {
    /** The next points to measure, up to a number; empty if all have been proposed. */
    List<Integer> next(int most);

    /**
     * Learns measurements, also of points that it has not proposed, such as those of earlier searches.
     *
     * @param point the point
     * @param score how good it is: larger is better, 0 for a failure
     */
    void update(int point, double score);
}
