// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

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
}
