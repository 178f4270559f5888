// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.range;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs a float network on samples and finds the range of each of its float values. */
public final class Calibration {
    private Calibration() {}

    /**
     * The ranges by value.
     *
     * @param samples at least one
     * @param progress told how many samples are done
     * @throws KilnException if a value is infinite or NaN
     */
    public static Map<Integer, Range> ranges(
            FloatGraph graph, List<Sample> samples, RangeMethod method, Runs.Progress progress) {
        Map<Integer, Range> extremes = new LinkedHashMap<>();
        Runs.each(graph.function(), samples, progress, (sample, values) -> ranges(graph, values))
                .forEach(found -> found.forEach((id, range) -> extremes.merge(id, range, Range::union)));
        requireFinite(graph, extremes);
        if (method == RangeMethod.MINMAX) {
            return extremes;
        }
        Map<Integer, Histogram> histograms = new HashMap<>();
        extremes.forEach((id, range) -> histograms.put(id, new Histogram(range)));
        Runs.each(graph.function(), samples, progress, (sample, values) -> {
            histograms.forEach((id, histogram) -> histogram.add(values.floats(id)));
            return true;
        });
        Map<Integer, Range> chosen = new LinkedHashMap<>();
        extremes.keySet().forEach(id -> chosen.put(id, RangeChoice.choose(method, histograms.get(id))));
        return chosen;
    }

    private static Map<Integer, Range> ranges(FloatGraph graph, Runs.Values values) {
        Map<Integer, Range> ranges = new LinkedHashMap<>();
        for (int id : graph.values()) {
            if (values.isFloat(id)) {
                ranges.put(id, Range.of(values.floats(id)));
            }
        }
        return ranges;
    }

    private static void requireFinite(FloatGraph graph, Map<Integer, Range> ranges) {
        for (Node node : graph.nodes()) {
            Range range = ranges.getOrDefault(node.output(), new Range(0, 0));
            if (!range.isFinite()) {
                throw new KilnException(new Problem(
                        "the values of `" + node.name() + "` range from " + range.min() + " to " + range.max(),
                        node.origin().text(),
                        "finite activations for all samples",
                        "Check that the samples are scaled as in training"));
            }
        }
    }
}
