// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.kiln.report.Json.OrNull;
import java.util.List;
import java.util.Map;

/**
 * Content of {@code quantized.json}: how a model was quantized, and how it compares with the float model.
 *
 * @param model the model file's name
 * @param mode {@code int8}, {@code int16x8} or {@code auto}
 * @param method how ranges were chosen
 * @param equalized where channels were equalized across layers
 * @param samples number of samples
 * @param inputs the quantized model's inputs
 * @param layers the operators in execution order
 * @param outputs the model's outputs
 * @param agreement share of samples for which both models choose the same class
 * @param accuracy share of right classes; null without labels
 * @param advice what would help the layers that lose most
 * @param trials what a search tried
 * @param notInTensorflowLite operators that TensorFlow Lite lacks, for which reason there is no {@code quantized.tflite}
 */
public record QuantizeReport(
        String model,
        String mode,
        String method,
        List<Equalized> equalized,
        int samples,
        List<Input> inputs,
        List<Layer> layers,
        List<Output> outputs,
        double agreement,

        @OrNull Accuracy accuracy,

        List<Advice> advice,
        List<Trial> trials,
        List<String> notInTensorflowLite) {
    public QuantizeReport {
        equalized = List.copyOf(equalized);
        inputs = List.copyOf(inputs);
        layers = List.copyOf(layers);
        outputs = List.copyOf(outputs);
        advice = List.copyOf(advice);
        trials = List.copyOf(trials);
        notInTensorflowLite = List.copyOf(notInTensorflowLite);
    }

    /**
     * Two layers between which channels got factors.
     *
     * @param first name of the first layer
     * @param second name of the second layer
     * @param spread largest factor of a channel divided by the smallest
     */
    public record Equalized(String first, String second, double spread) {}

    /**
     * An operator.
     *
     * @param name the tensor that it computes
     * @param op its name
     * @param precision {@code int8}, {@code int16} or {@code float}
     * @param reason why it is {@code float}; null if it is not, or if its numbers are not real
     * @param min smallest value that the scale was chosen for
     * @param max largest value
     * @param scale real value of one step; null for floats
     * @param zeroPoint integer that means 0; null for floats
     * @param sqnr signal-to-quantization-noise ratio in dB, all noise of earlier operators included; null if unknown
     * @param macs multiply-accumulates
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Layer(
            String name,
            String op,
            String precision,
            String reason,
            Float min,
            Float max,
            Float scale,
            Integer zeroPoint,
            Double sqnr,
            long macs) {}

    /**
     * An input of the model.
     *
     * @param dtype element type
     * @param scale real value of one step; null for floats
     * @param zeroPoint integer that means 0; null for floats
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Input(String name, String dtype, Float scale, Integer zeroPoint) {}

    /**
     * An output of the model.
     *
     * @param dtype element type
     * @param scale real value of one step; null for floats
     * @param zeroPoint integer that means 0; null for floats
     * @param sqnr signal-to-quantization-noise ratio in dB
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Output(String name, String dtype, Float scale, Integer zeroPoint, double sqnr) {}

    /**
     * Shares of right classes, from 0 to 1.
     *
     * @param real of the float model
     */
    public record Accuracy(double real, double quantized) {}

    /**
     * What another precision for one layer gives back.
     *
     * @param layer its name
     * @param precision {@code float} or {@code int16}
     * @param sqnr the outputs' signal-to-quantization-noise ratio with it, in dB
     */
    public record Advice(String layer, String precision, double sqnr) {}

    /**
     * One step of a search.
     *
     * @param layers the layers with another precision than int8, with theirs
     * @param sqnr the outputs' signal-to-quantization-noise ratio, in dB
     * @param agreement share of samples for which both models choose the same class
     * @param enough whether it kept what was asked for
     */
    public record Trial(Map<String, String> layers, double sqnr, double agreement, boolean enough) {}
}
