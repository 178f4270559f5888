// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The points of a space: vectors of knob values. Not all vectors are points. */
public final class SearchSpace {
    private final List<Integer> dimensions;
    private final List<List<Integer>> points;
    private final List<double[]> features;
    private final Map<List<Integer>, Integer> numbers = new HashMap<>();

    /**
     * @param dimensions number of values of each knob
     * @param points for each point the position of each knob's value
     * @param features for each point what a model sees of it; all of one length
     */
    public SearchSpace(List<Integer> dimensions, List<int[]> points, List<double[]> features) {
        this.dimensions = List.copyOf(dimensions);
        this.points = points.stream()
                .map(point -> IntStream.of(point).boxed().collect(Collectors.toUnmodifiableList()))
                .toList();
        this.features = features.stream().map(double[]::clone).toList();
        for (int i = 0; i < this.points.size(); i++) {
            numbers.put(this.points.get(i), i);
        }
    }

    /** Number of points. */
    public int size() {
        return points.size();
    }

    List<Integer> dimensions() {
        return dimensions;
    }

    List<Integer> point(int number) {
        return points.get(number);
    }

    double[] features(int number) {
        return features.get(number);
    }

    /** The index of the point with these knob values; empty if there is no such point. */
    Optional<Integer> find(List<Integer> vector) {
        return Optional.ofNullable(numbers.get(vector));
    }
}
