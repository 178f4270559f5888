// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.ParameterValue;
import io.kiln.toolchain.board.Board;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How an image is measured by a runner of MLPerf Tiny.
 *
 * @param benchmark which one; empty for the one that the model's sizes tell
 * @param mode what is measured
 * @param vendor what the image answers to {@code name}; empty for the board's id
 * @param baud bits per second of the line; empty for 9600 where energy is measured, else the board's
 */
public record MlperfOptions(Optional<Benchmark> benchmark, Mode mode, Optional<String> vendor, Optional<Integer> baud) {
    /** Performance of the benchmark that the model's sizes tell. */
    public static final MlperfOptions USUAL =
            new MlperfOptions(Optional.empty(), Mode.PERFORMANCE, Optional.empty(), Optional.empty());

    /** Characters that can stand in the answer's brackets and in a C string. */
    private static final Pattern NAME = Pattern.compile("[ !#-$&-\\[^-~]{1,60}");

    /** The rate at which the benchmark measures energy. */
    private static final int ENERGY_BAUD = 9600;

    private static final int LEAST_BAUD = 300;
    private static final int MOST_BAUD = 4_000_000;

    /** What a runner measures. */
    public enum Mode {
        /** Time, by lines with microseconds. */
        PERFORMANCE,

        /** Right answers; the image is that of {@link #PERFORMANCE}. */
        ACCURACY,

        /** Energy: moments are pulses on a pin. */
        ENERGY
    }

    /**
     * Reads the parameters' values.
     *
     * @throws KilnException for values that there are not
     */
    public static MlperfOptions of(
            Optional<String> benchmark, String mode, Optional<String> vendor, Optional<Integer> baud) {
        vendor.filter(text -> !NAME.matcher(text).matches()).ifPresent(text -> {
            throw Failure.CONFIG.exception(
                    "kiln.mlperf.vendor is '" + text + "'",
                    "",
                    "up to 60 printable characters of ASCII, without \", %, ] and \\",
                    "Change kiln.mlperf.vendor");
        });
        baud.filter(rate -> rate < LEAST_BAUD || rate > MOST_BAUD).ifPresent(rate -> {
            throw Failure.CONFIG.exception(
                    "kiln.mlperf.baud is " + rate,
                    "",
                    "bits per second from " + LEAST_BAUD + " to " + MOST_BAUD,
                    "Change kiln.mlperf.baud");
        });
        return new MlperfOptions(
                benchmark.map(text -> ParameterValue.of("kiln.mlperf.benchmark", Benchmark.class, text)),
                ParameterValue.of("kiln.mlperf.mode", Mode.class, mode),
                vendor,
                baud);
    }

    /** A board whose console has the line's rate. */
    public Board at(Board board) {
        return baud.or(() -> mode == Mode.ENERGY ? Optional.of(ENERGY_BAUD) : Optional.empty())
                .map(board::atBaud)
                .orElse(board);
    }

    /** The benchmarks of MLPerf Tiny. A runner sends elements of a type, which stand for {@code scale * (element - zeroPoint)}. */
    public enum Benchmark {
        /** Keyword spotting: 49 frames of 10 features, quantized as the reference model has them. */
        KWS01(DType.INT8, 490, 12, 0.5847029f, 83),

        /** Visual wake words: a picture of 96 by 96 pixels. */
        VWW01(DType.UINT8, 96 * 96 * 3, 2, 1 / 255f, 0),

        /** Image classification: a picture of 32 by 32 pixels. */
        IC01(DType.UINT8, 32 * 32 * 3, 10, 1f, 0),

        /** Image classification, the larger model. */
        IC02(DType.UINT8, 32 * 32 * 3, 10, 1f, 0),

        /** Anomaly detection: 5 slices of 128 mel bins. */
        AD01(DType.FLOAT32, 640, 640, 1f, 0),

        /** Streaming wake word: sound, of which 30 rows of 40 features are the model's input. */
        SWW01(DType.INT16, 30 * 40, 3, 1f, 0),

        /** No benchmark of MLPerf Tiny: the bytes of the model's input as they are. */
        CUSTOM(DType.UINT8, 0, 0, 0f, 0);

        private final DType type;
        private final int inputs;
        private final int outputs;
        private final float scale;
        private final int zeroPoint;

        Benchmark(DType type, int inputs, int outputs, float scale, int zeroPoint) {
            this.type = type;
            this.inputs = inputs;
            this.outputs = outputs;
            this.scale = scale;
            this.zeroPoint = zeroPoint;
        }

        /** What an image answers to {@code profile}, such as {@code kws01}. */
        public String id() {
            return ParameterValue.text(this);
        }

        /** Whether the result is how anomalous an input is, in place of the probabilities of classes. */
        public boolean findsAnomalies() {
            return this == AD01;
        }

        /** Whether the image hears sound, in place of inputs that a runner sends one by one. */
        public boolean listens() {
            return this == SWW01;
        }

        /** The type of what a runner sends. */
        DType type() {
            return type;
        }

        /** Elements of an input. */
        int inputs() {
            return inputs;
        }

        /** Elements of the model's output. */
        int outputs() {
            return outputs;
        }

        /** Whether a model's input and output have as many elements as this benchmark's. */
        boolean fits(long modelInputs, long modelOutputs) {
            return this == CUSTOM || (modelInputs == inputs && modelOutputs == outputs);
        }

        /** What a sent integer stands for. */
        float real(int element) {
            return scale * (element - zeroPoint);
        }
    }
}
