// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.ParameterValue;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How a device is measured as a runner of MLPerf Tiny measures it.
 *
 * @param data folder with {@code y_labels.csv} and the inputs that it lists
 * @param run what is measured
 * @param console the serial port of a board; empty to run the image in the board's emulator
 */
public record MlperfSpec(Path data, Run run, Optional<ConsoleSpec> console) {
    /** What is measured. */
    public enum Run {
        /** How many inputs are answered right. */
        ACCURACY,

        /** Inferences per second, with five inputs. */
        PERFORMANCE,

        SESSION;

        public boolean isAccuracy() {
            return this != PERFORMANCE;
        }

        public boolean isPerformance() {
            return this != ACCURACY;
        }
    }

    /**
     * Reads the parameters' values.
     *
     * @param board the board's console if {@code on} is {@code board}
     * @throws KilnException for values that there are not, or without data
     */
    public static MlperfSpec of(Optional<Path> data, String run, String on, ConsoleSpec board) {
        Path folder = data.orElseThrow(() -> Failure.CONFIG.exception(
                "there is nothing to measure with",
                "kiln.mlperf.data",
                "a folder with y_labels.csv and the files that it lists",
                "Set kiln.mlperf.data"));
        boolean isBoard = ParameterValue.of("kiln.mlperf.on", ProfileOn.class, on) == ProfileOn.BOARD;
        return new MlperfSpec(
                folder,
                ParameterValue.of("kiln.mlperf.run", Run.class, run),
                isBoard ? Optional.of(board) : Optional.empty());
    }
}
