// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.util.List;

/**
 * Content of {@code mlperf.json}: what {@code kiln:mlperf} measured.
 *
 * @param notice what the figures are not
 * @param benchmark such as {@code kws01}
 * @param device what the device calls itself
 * @param board the board's id
 * @param ranOn the emulator or the port
 * @param accuracy how many inputs were answered right; null if that was not measured
 * @param performance inferences per second; null if that was not measured
 * @param streaming how a word was heard; null of other benchmarks
 */
public record MlperfReport(
        String notice,
        String benchmark,
        String device,
        String board,
        String ranOn,
        @JsonSetter(nulls = Nulls.SET) Accuracy accuracy,
        @JsonSetter(nulls = Nulls.SET) Performance performance,
        @JsonSetter(nulls = Nulls.SET) Streaming streaming) {
    /** What the figures are not. */
    public static final String NOTICE =
            "These figures are no MLPerf results: no one has reviewed how they were measured.";

    /**
     * How right answers are.
     *
     * @param inputs number of inputs
     * @param top1 part of the inputs whose largest result is the right class; null where results are no classes
     * @param auc area under the curve of true against false positives, of several classes the mean; null if all inputs are of one class
     */
    public record Accuracy(
            int inputs,
            @JsonSetter(nulls = Nulls.SET) Double top1,
            @JsonSetter(nulls = Nulls.SET) Double auc) {}

    /**
     * How fast inferences are.
     *
     * @param medianThroughput inferences per second
     * @param throughputs those of each input
     */
    public record Performance(double medianThroughput, List<Double> throughputs) {
        public Performance {
            throughputs = List.copyOf(throughputs);
        }
    }

    /**
     * How a word was heard in recordings.
     *
     * @param recordings how many
     * @param words in all of them
     * @param falseNegatives words that were not heard
     * @param falsePositives detections where there was no word; those within a second are one
     * @param frames rows of features
     * @param dutyCycle part of the time in which the device computes
     * @param throughput rows per second that it can compute; 0 if its clock has not moved
     */
    public record Streaming(
            int recordings,
            int words,
            int falseNegatives,
            int falsePositives,
            int frames,
            double dutyCycle,
            double throughput) {}

    /**
     * An element of {@code results.json}, in the form of the benchmark's own runner.
     *
     * @param file name of the input's file
     * @param classes number of classes
     * @param label the right class
     * @param bytesToSend bytes of a window; 0 for the whole file
     * @param stride bytes from one window to the next
     * @param infer what the device answered
     */
    public record Result(
            String file,
            int classes,
            @JsonProperty("class") int label,
            @JsonProperty("bytes_to_send") int bytesToSend,
            int stride,
            Answer infer) {}

    /**
     * What a device answered.
     *
     * @param results the model's results
     * @param start microseconds of the device's clock before the inferences
     * @param end likewise behind them
     * @param elapsed the difference
     * @param total inferences, those for warming up included
     * @param iterations inferences that were measured
     * @param warmups inferences before them
     * @param throughput inferences per second
     */
    public record Answer(
            List<Double> results,
            @JsonProperty("start_time") long start,
            @JsonProperty("end_time") long end,
            @JsonProperty("elapsed_time") long elapsed,
            @JsonProperty("total_inferences") int total,
            int iterations,
            int warmups,
            double throughput) {
        public Answer {
            results = List.copyOf(results);
        }
    }
}
