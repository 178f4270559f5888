// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.quantize.plan.Precision;
import io.kiln.quantize.range.Calibration.RangeMethod;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.SampleReader.OtherSamples;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * How a model is quantized.
 *
 * @param mode what it is turned into
 * @param method how ranges are chosen
 * @param equalize when channels are equalized across layers
 * @param keepFloat names of layers that stay float; {@code *} stands for any characters
 * @param floatBorder whether inputs and outputs stay float
 * @param limits what the result must keep
 */
public record QuantizeOptions(
        QuantizeMode mode,
        RangeMethod method,
        Equalize equalize,
        List<String> keepFloat,
        boolean floatBorder,
        Limits limits) {
    /** The model stays as it is. */
    public static final QuantizeOptions NONE = of(QuantizeMode.NONE);

    public QuantizeOptions {
        keepFloat = List.copyOf(keepFloat);
    }

    /** When channels are equalized across layers, see {@link io.kiln.quantize.equalize.Equalization}. */
    public enum Equalize {
        /** If that at least halves the noise, on average over layers and some of the samples. */
        AUTO,
        /** Wherever two layers allow it. */
        ALWAYS,
        /** Never: weights keep the scales that TensorFlow Lite's converter gives them. */
        NEVER
    }

    /** The defaults for a mode: extremes, equalization where it helps, integer inputs and outputs, no limits. */
    public static QuantizeOptions of(QuantizeMode mode) {
        return new QuantizeOptions(mode, RangeMethod.MINMAX, Equalize.AUTO, List.of(), false, Limits.NONE);
    }

    /** Whether there is anything to do. */
    public boolean isActive() {
        return mode != QuantizeMode.NONE;
    }

    /**
     * What a quantized model must keep.
     *
     * @param maxAccuracyLoss largest loss of accuracy on labelled samples, in percentage points
     * @param minSqnr smallest signal-to-quantization-noise ratio of any output, in dB
     */
    public record Limits(Optional<Double> maxAccuracyLoss, Optional<Double> minSqnr) {
        public static final Limits NONE = new Limits(Optional.empty(), Optional.empty());
    }

    /** What a model is turned into. */
    public enum QuantizeMode {
        /** The model stays as it is. */
        NONE,
        /** Activations and weights of int8. */
        INT8,
        /** Activations of int16, weights of int8. */
        INT16X8,
        /** Int8, with int16 or float for the layers that need it. */
        AUTO;

        /** The parameter's value. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        Precision precision() {
            return this == INT16X8 ? Precision.INT16 : Precision.INT8;
        }
    }

    /**
     * A request to quantize a model.
     *
     * @param options how
     * @param samples folder or file of samples, see {@link io.kiln.quantize.sample.SampleReader}
     * @param labels file of their labels; empty for {@code labels.csv} in the folder, if that exists
     * @param others reads samples that are not tensors
     * @param progress told about runs of the float model
     */
    public record QuantizeRequest(
            QuantizeOptions options,
            Path samples,
            Optional<Path> labels,
            OtherSamples others,
            Runs.Progress progress) {}
}
