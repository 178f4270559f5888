// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.range;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.ir.Parameter;
import io.kiln.ir.Variable;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.quantize.graph.FloatGraph.AroundTrees;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.kernel.Tensor;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLongArray;

/** Runs a float network on samples and finds the range of each of its float values and variables. */
public final class Calibration {
    private static final double OUTLIERS = 0.0001;
    private static final int STEPS = 100;
    private static final int LEVELS = 256;
    private static final double UNSEEN = 1e-9;

    private Calibration() {}

    /** A sample's part: the range, and each channel's sum and largest magnitude, of every float value. */
    private record Part(
            Map<Integer, ValueRange> ranges, Map<Integer, double[]> sums, Map<Integer, float[]> magnitudes) {}

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
        Map<Integer, float[]> magnitudes = new HashMap<>();
        for (Part part : parts) {
            part.ranges.forEach((id, range) -> extremes.merge(id, range, ValueRange::union));
            part.sums.forEach((id, sums) -> means.merge(id, sums, Calibration::added));
            part.magnitudes.forEach((id, most) -> magnitudes.merge(id, most, Calibration::larger));
        }
        // Transformed scores may be NaN, and no integers are to hold them.
        AroundTrees.of(graph).stream()
                .filter(id -> extremes.containsKey(id) && !extremes.get(id).isFinite())
                .forEach(extremes::remove);
        requireFinite(graph, extremes);
        Map<Integer, TensorType> types = graph.function().types();
        means.forEach((id, sums) ->
                divide(sums, (double) samples.size() * types.get(id).shape().elements() / sums.length));
        return new Statistics(
                method == RangeMethod.MINMAX ? extremes : chosen(graph, samples, method, extremes), means, magnitudes);
    }

    private static double[] added(double[] sums, double[] more) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] += more[i];
        }
        return sums;
    }

    private static float[] larger(float[] most, float[] others) {
        for (int i = 0; i < most.length; i++) {
            most[i] = Math.max(most[i], others[i]);
        }
        return most;
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
        extremes.keySet().forEach(id -> chosen.put(id, choose(method, histograms.get(id))));
        return chosen;
    }

    private static Part part(FloatGraph graph, Runs.Values values) {
        Part part = new Part(new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashMap<>());
        for (int id : graph.values()) {
            if (values.isFloat(id)) {
                part.ranges.put(id, ValueRange.of(values.floats(id)));
                addChannels(id, values.byId().get(id), part);
            }
        }
        for (Variable variable : graph.function().variables()) {
            if (values.isFloat(variable.id())) {
                part.ranges.put(variable.id(), ValueRange.of(values.floats(variable.id())));
            }
        }
        return part;
    }

    private static void addChannels(int id, Tensor tensor, Part part) {
        int channels = tensor.shape().rank() == 0 ? 1 : tensor.shape().dim(-1);
        double[] sums = new double[channels];
        float[] magnitudes = new float[channels];
        float[] elements = tensor.floats();
        for (int i = 0; i < elements.length; i++) {
            int channel = i % channels;
            sums[channel] += elements[i];
            magnitudes[channel] = Math.max(magnitudes[channel], Math.abs(elements[i]));
        }
        part.sums.put(id, sums);
        part.magnitudes.put(id, magnitudes);
    }

    private static void requireFinite(FloatGraph graph, Map<Integer, ValueRange> ranges) {
        for (Parameter input : graph.function().params()) {
            requireFinite(
                    Optional.ofNullable(ranges.get(input.id())),
                    "input `" + input.name() + "`",
                    graph.function().name());
        }
        for (Node node : graph.nodes()) {
            requireFinite(
                    Optional.ofNullable(ranges.get(node.output())),
                    "`" + node.name() + "`",
                    node.origin().text());
        }
    }

    /** Reports only the first value that is not finite, because it makes later values so, too. */
    private static void requireFinite(Optional<ValueRange> found, String name, String where) {
        found.filter(range -> !range.isFinite()).ifPresent(range -> {
            throw Failure.QUANTIZE.exception(
                    "the values of " + name + " range from " + range.min() + " to " + range.max(),
                    where,
                    "finite activations for all samples, whose range is a float, too",
                    "Check that the samples are scaled as in training");
        });
    }

    /** The range of a value by its histogram, whose range it lies in; it holds 0. */
    static ValueRange choose(RangeMethod method, Histogram histogram) {
        ValueRange all = histogram.range();
        if (all.min() == all.max()) {
            return all;
        }
        return switch (method) {
            case MINMAX -> all;
            case PERCENTILE -> percentile(histogram);
            case MSE -> best(histogram, Calibration::squareError);
            case KL -> best(histogram, Calibration::divergence);
        };
    }

    private static ValueRange percentile(Histogram histogram) {
        long outside = (long) (histogram.total() * OUTLIERS);
        int low = 0;
        for (long seen = histogram.count(0); seen <= outside; seen += histogram.count(low)) {
            low++;
        }
        int high = Histogram.BINS - 1;
        for (long seen = histogram.count(high); seen <= outside; seen += histogram.count(high)) {
            high--;
        }
        double width = histogram.width();
        ValueRange all = histogram.range();
        ValueRange kept = new ValueRange((float) (all.min() + low * width), (float) (all.min() + (high + 1) * width));
        return kept.within(all).withZero();
    }

    /** How bad a range is; smaller is better. */
    private interface Loss {
        double of(Histogram histogram, ValueRange range);
    }

    /** The best of the ranges that shrink both ends towards 0 in equal steps; the widest wins a tie. */
    private static ValueRange best(Histogram histogram, Loss loss) {
        ValueRange all = histogram.range().withZero();
        ValueRange best = all;
        double least = loss.of(histogram, all);
        for (int step = STEPS - 1; step > 0; step--) {
            float part = (float) step / STEPS;
            ValueRange range = new ValueRange(all.min() * part, all.max() * part);
            double found = loss.of(histogram, range);
            if (found < least) {
                least = found;
                best = range;
            }
        }
        return best;
    }

    /** Elements inside are off by a third of half a step squared on average, those outside by their distance. */
    private static double squareError(Histogram histogram, ValueRange range) {
        double step = ((double) range.max() - range.min()) / (LEVELS - 1);
        double sum = 0;
        for (int i = 0; i < Histogram.BINS; i++) {
            double middle = histogram.middle(i);
            double beyond = Math.max(0, Math.max(range.min() - middle, middle - range.max()));
            sum += histogram.count(i) * (beyond > 0 ? beyond * beyond : step * step / 12);
        }
        return sum;
    }

    /**
     * The divergence of the quantized distribution from that of the elements. Elements outside the range count to its
     * last bin. A level spreads its elements evenly over the bins that it stands for, and that are not empty.
     */
    private static double divergence(Histogram histogram, ValueRange range) {
        double[] elements = new double[Histogram.BINS];
        int[] levels = new int[Histogram.BINS];
        double[] inLevel = new double[LEVELS];
        int[] binsOfLevel = new int[LEVELS];
        double step = ((double) range.max() - range.min()) / (LEVELS - 1);
        int first = bin(histogram, range.min());
        int last = bin(histogram, range.max());
        for (int i = 0; i < Histogram.BINS; i++) {
            elements[Math.max(first, Math.min(last, i))] += histogram.count(i);
        }
        for (int i = first; i <= last; i++) {
            levels[i] = (int) Math.max(0, Math.min(LEVELS - 1, Math.round((histogram.middle(i) - range.min()) / step)));
            inLevel[levels[i]] += histogram.count(i);
            binsOfLevel[levels[i]] += elements[i] > 0 ? 1 : 0;
        }
        double total = histogram.total();
        double inside = 0;
        for (int i = first; i <= last; i++) {
            inside += histogram.count(i);
        }
        double sum = 0;
        for (int i = first; i <= last; i++) {
            if (elements[i] > 0) {
                double p = elements[i] / total;
                double q = Math.max(UNSEEN, inLevel[levels[i]] / binsOfLevel[levels[i]] / Math.max(1, inside));
                sum += p * Math.log(p / q);
            }
        }
        return sum;
    }

    private static int bin(Histogram histogram, float value) {
        int bin = (int) (((double) value - histogram.range().min()) / histogram.width());
        return Math.max(0, Math.min(Histogram.BINS - 1, bin));
    }

    /** How the range of a value is chosen from what the samples show. */
    public enum RangeMethod {
        /** The extremes over all samples, as TensorFlow Lite's converter does. */
        MINMAX,
        /** Without the outermost 0.01 % of the elements at either end. */
        PERCENTILE,
        /** The range whose quantized distribution diverges least from that of the elements (Kullback and Leibler). */
        KL,
        /** The range with the smallest mean square error after quantizing. */
        MSE;

        /** The parameter's value. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * What calibration finds out.
     *
     * @param ranges the range of each float value and variable
     * @param means the mean of each channel, the last dimension, of each float value
     * @param magnitudes the largest magnitude of each channel of each float value
     */
    public record Statistics(
            Map<Integer, ValueRange> ranges, Map<Integer, double[]> means, Map<Integer, float[]> magnitudes) {
        public Statistics {
            ranges = Map.copyOf(ranges);
            means = Map.copyOf(means);
            magnitudes = Map.copyOf(magnitudes);
        }
    }

    /**
     * How many elements of a value lie in each of equal parts of its range. Counts do not depend on the order of adding, so
     * that threads may share it.
     */
    static final class Histogram {
        /** Number of parts. */
        static final int BINS = 2048;

        private final ValueRange range;
        private final AtomicLongArray counts = new AtomicLongArray(BINS);

        Histogram(ValueRange range) {
            this.range = range;
        }

        /** Counts elements of the range. */
        void add(float[] values) {
            double width = width();
            int[] own = new int[BINS];
            for (float value : values) {
                int bin = width == 0 ? 0 : (int) (((double) value - range.min()) / width);
                own[Math.max(0, Math.min(BINS - 1, bin))]++;
            }
            for (int i = 0; i < BINS; i++) {
                if (own[i] > 0) {
                    counts.addAndGet(i, own[i]);
                }
            }
        }

        ValueRange range() {
            return range;
        }

        long count(int bin) {
            return counts.get(bin);
        }

        long total() {
            long total = 0;
            for (int i = 0; i < BINS; i++) {
                total += counts.get(i);
            }
            return total;
        }

        /** Width of a bin. */
        double width() {
            return ((double) range.max() - range.min()) / BINS;
        }

        double middle(int bin) {
            return range.min() + (bin + 0.5) * width();
        }
    }
}
