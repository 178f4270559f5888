// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.Optimize;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Goals of parts of a model, where these are not the build's.
 *
 * @param plan what the order of operators, and which of them run row by row, is chosen for
 * @param layers the goals of layers, by the names of their C functions; others have the build's
 */
public record GoalMix(Optimize plan, SortedMap<String, LayerGoal> layers) {
    public GoalMix {
        layers = Collections.unmodifiableSortedMap(new TreeMap<>(layers));
    }
}
