// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.ParameterValue;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How an image is measured by a runner of MLPerf Tiny.
 *
 * @param benchmark which one; empty for the one that the model's sizes tell
 * @param mode what is measured
 * @param vendor what the image answers to {@code name}; empty for the board's id
 */
public record MlperfOptions(Optional<Benchmark> benchmark, Mode mode, Optional<String> vendor) {
    /** Performance of the benchmark that the model's sizes tell. */
    public static final MlperfOptions USUAL = new MlperfOptions(Optional.empty(), Mode.PERFORMANCE, Optional.empty());

    /** Characters that can stand in the answer's brackets and in a C string. */
    private static final Pattern NAME = Pattern.compile("[ !#-$&-\\[^-~]{1,60}");

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
    public static MlperfOptions of(Optional<String> benchmark, String mode, Optional<String> vendor) {
        vendor.filter(text -> !NAME.matcher(text).matches()).ifPresent(text -> {
            throw new KilnException(Failure.CONFIG.problem(
                    "kiln.mlperf.vendor is '" + text + "'",
                    "",
                    "up to 60 printable characters of ASCII, without \", %, ] and \\",
                    "Change kiln.mlperf.vendor"));
        });
        return new MlperfOptions(
                benchmark.map(text -> ParameterValue.of("kiln.mlperf.benchmark", Benchmark.class, text)),
                ParameterValue.of("kiln.mlperf.mode", Mode.class, mode),
                vendor);
    }
}
