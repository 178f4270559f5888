// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.base.Problems;
import io.kiln.firmware.app.MlperfOptions;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.flow.spec.DeviceSpec.MlperfSpec;

/** {@code <mlperf>}: how MLPerf Tiny measures an image. */
public final class Mlperf {
    private static final Element BENCHMARK = Element.of(
            "benchmark",
            "With kiln.application mlperf-tiny, which benchmark the model is of: kws01, vww01, ic01, ic02, ad01,"
                    + " sww01, or custom for none of them. If not set, the one whose inputs and outputs are as many.");
    private static final Element MODE = Element.of(
            "mode",
            "performance",
            "What an image with kiln.application mlperf-tiny is measured for: performance, accuracy (the same image)"
                    + " or energy, whose moments are pulses on a pin of the board.");
    private static final Element VENDOR =
            Element.of("vendor", "What such an image answers to the command name. If not set, the board's id.");
    private static final Element BAUD = Element.of(
            "baud",
            "Bits per second of such an image, and of kiln:mlperf. If not set, 9600 in mode energy, else the board's.");
    private static final Element DATA = Element.of(
            "data",
            "For kiln:mlperf, a folder with y_labels.csv and the inputs that it lists, or with a folder of the"
                    + " benchmark's name that has them.");
    private static final Element RUN =
            Element.of("run", "session", "What kiln:mlperf measures: accuracy, performance, or session for both.");
    private static final Element ON = Element.of(
            "on",
            "emulator",
            "Where kiln:mlperf measures: emulator, or board, whose serial port kiln.monitor.port names or its USB ids"
                    + " tell.");
    private static final Element SKIP = Element.of("skip", "false", "Skips kiln:mlperf.");

    public static final ParameterGroup MLPERF =
            new ParameterGroup("mlperf", BENCHMARK, MODE, VENDOR, BAUD, DATA, RUN, ON, SKIP);

    private Mlperf() {}

    /** How an image is made for it. */
    public static MlperfOptions options(GroupValues mlperf, Problems malformed) {
        return malformed
                .read(() -> MlperfOptions.of(
                        mlperf.find(BENCHMARK), mlperf.text(MODE), mlperf.find(VENDOR), mlperf.smallIfSet(BAUD)))
                .orElse(MlperfOptions.USUAL);
    }

    /** How the goal measures. */
    public static MlperfSpec spec(GroupValues mlperf, ConsoleSpec console) {
        return MlperfSpec.of(
                mlperf.file(DATA),
                mlperf.text(RUN),
                mlperf.text(ON),
                mlperf.smallIfSet(BAUD).map(console::atBaud).orElse(console));
    }

    /** Whether the goal does nothing. */
    public static boolean isSkipped(GroupValues mlperf) {
        return mlperf.flag(SKIP);
    }
}
