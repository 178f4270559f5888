// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.range;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.kernel.Tensor;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs a float network on samples and finds the range of each of its float values. */
public final class Calibration {
    private Calibration() {}

    /** A sample's part: the range and the sums over each channel of every float value. */
    private record Part(Map<Integer, ValueRange> ranges, Map<Integer, double[]> sums) {}

    /**
     * Ranges and means. Sums are added in the order of the samples, so that they are the same on every computer.
     *
     * @param samples at least one
     * @param progress told how many samples are done
     * @throws KilnException if a value is infinite or NaN
     */
    public static Statistics of(FloatGraph graph, List<Sample> samples, RangeMethod method, Runs.Progress progress) {
        List<Part> parts = Runs.each(graph.function(), samples, progress, (sample, values) -> part(graph, values));
        Map<Integer, ValueRange> extremes = new LinkedHashMap<>();
        Map<Integer, double[]> means = new HashMap<>();
        for (Part part : parts) {
            part.ranges.forEach((id, range) -> extremes.merge(id, range, ValueRange::union));
            part.sums.forEach((id, sums) -> means.merge(id, sums, Calibration::added));
        }
        requireFinite(graph, extremes);
        Map<Integer, TensorType> types = graph.function().types();
        means.forEach((id, sums) ->
                divide(sums, (double) samples.size() * types.get(id).shape().elements() / sums.length));
        return new Statistics(
                method == RangeMethod.MINMAX ? extremes : chosen(graph, samples, method, extremes), means);
    }

    private static double[] added(double[] sums, double[] more) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] += more[i];
        }
        return sums;
    }

    private static void divide(double[] sums, double count) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] /= count;
        }
    }

    private static Map<Integer, ValueRange> chosen(
            FloatGraph graph, List<Sample> samples, RangeMethod method, Map<Integer, ValueRange> extremes) {
        Map<Integer, Histogram> histograms = new HashMap<>();
        extremes.forEach((id, range) -> histograms.put(id, new Histogram(range)));
        Runs.each(graph.function(), samples, Runs.Progress.NONE, (sample, values) -> {
            histograms.forEach((id, histogram) -> histogram.add(values.floats(id)));
            return true;
        });
        Map<Integer, ValueRange> chosen = new LinkedHashMap<>();
        extremes.keySet().forEach(id -> chosen.put(id, RangeChoice.choose(method, histograms.get(id))));
        return chosen;
    }

    private static Part part(FloatGraph graph, Runs.Values values) {
        Map<Integer, ValueRange> ranges = new LinkedHashMap<>();
        Map<Integer, double[]> sums = new LinkedHashMap<>();
        for (int id : graph.values()) {
            if (values.isFloat(id)) {
                ranges.put(id, ValueRange.of(values.floats(id)));
                sums.put(id, sums(values.byId().get(id)));
            }
        }
        return new Part(ranges, sums);
    }

    private static double[] sums(Tensor tensor) {
        int channels = tensor.shape().rank() == 0 ? 1 : tensor.shape().dim(-1);
        double[] sums = new double[channels];
        float[] elements = tensor.floats();
        for (int i = 0; i < elements.length; i++) {
            sums[i % channels] += elements[i];
        }
        return sums;
    }

    private static void requireFinite(FloatGraph graph, Map<Integer, ValueRange> ranges) {
        for (Node node : graph.nodes()) {
            ValueRange range = ranges.getOrDefault(node.output(), new ValueRange(0, 0));
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
