// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.ParameterValue;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How to flash a board and talk to it.
 *
 * @param flash how to flash it
 * @param isFlashed whether to flash at all; otherwise the board keeps its content
 * @param console its serial console
 */
public record DeviceSpec(FlashSpec flash, boolean isFlashed, ConsoleSpec console) {
    /** The usual way: flash the only connected board. */
    public static final DeviceSpec USUAL = new DeviceSpec(FlashSpec.USUAL, true, ConsoleSpec.OF_BOARD);

    /**
     * Selects the serial port that is a board's console.
     *
     * @param port the port; empty to find it by the board's USB ids
     * @param serial serial number of the USB device; empty if there is only one
     * @param baud bits per second; empty for the board's
     */
    public record ConsoleSpec(Optional<String> port, Optional<String> serial, Optional<Integer> baud) {
        /** The console that the board's description states. */
        public static final ConsoleSpec OF_BOARD =
                new ConsoleSpec(Optional.empty(), Optional.empty(), Optional.empty());

        /** The same console at another rate. */
        public ConsoleSpec atBaud(int rate) {
            return new ConsoleSpec(port, serial, Optional.of(rate));
        }
    }

    /**
     * How to watch the console.
     *
     * @param console its serial port
     * @param until a text to wait for, or a time such as {@code 10s}, {@code 500ms} or {@code 2m}; empty to watch until the user stops
     * @param limit time limit for the text to appear
     */
    public record MonitorSpec(ConsoleSpec console, Optional<String> until, Duration limit) {
        private static final Pattern TIME = Pattern.compile("([0-9]{1,9})(ms|s|m)");

        /** The time to watch for, if {@link #until} is one. */
        public Optional<Duration> time() {
            return until.map(TIME::matcher).filter(Matcher::matches).map(matcher -> {
                long number = Long.parseLong(matcher.group(1));
                return switch (matcher.group(2)) {
                    case "ms" -> Duration.ofMillis(number);
                    case "s" -> Duration.ofSeconds(number);
                    default -> Duration.ofMinutes(number);
                };
            });
        }

        /** The text to wait for, if {@link #until} is one. */
        public Optional<String> text() {
            if (until.filter(String::isEmpty).isPresent()) {
                throw Failure.CONFIG.exception("it is empty", "kiln.monitor.until", "a text, or a time such as 10s");
            }
            return time().isPresent() ? Optional.empty() : until;
        }
    }

    /**
     * How to flash an image.
     *
     * @param probe {@code all}, or probes separated by commas: serial numbers, {@code usb:<place>}, {@code
     *     tcp:<host>:<port>}, or what the runner takes; empty for the only one connected
     * @param tool what writes
     * @param content what is written
     * @param journal where flashing is recorded
     * @param faults faults to inject into virtual boards, {@code [<board>/]<fault>} separated by commas; empty for none
     * @param allowRpc whether an image with an RPC server, which is for the bench only, may be deployed
     * @param bar whether progress is a terminal bar rather than lines
     */
    public record FlashSpec(
            Optional<String> probe,
            Tool tool,
            Content content,
            Journal journal,
            Optional<String> faults,
            boolean allowRpc,
            boolean bar) {
        /** The usual way: OpenOCD from the PATH, the only connected probe, and three minutes. */
        public static final FlashSpec USUAL = new FlashSpec(
                Optional.empty(),
                new Tool("openocd", Duration.ofMinutes(3)),
                Content.WHOLE,
                new Journal(Optional.empty(), Optional.empty()),
                Optional.empty(),
                false,
                false);

        /**
         * The program that writes.
         *
         * @param openOcd name or path of OpenOCD
         * @param limit time limit for each device
         * @param runner the runner, or {@code RUNNER=PROGRAM} with its path; empty for the board's usual one
         */
        public record Tool(String openOcd, Duration limit, Optional<String> runner) {
            /** The board's usual runner. */
            public Tool(String openOcd, Duration limit) {
                this(openOcd, limit, Optional.empty());
            }
        }

        /** Name of the runner that is asked for; empty for the board's usual one. */
        public Optional<String> runner() {
            return tool.runner.map(text -> text.split("=", 2)[0].strip());
        }

        /** Path of the runner's program, if it is asked for. */
        public Optional<String> program() {
            return tool.runner.filter(text -> text.contains("=")).map(text -> text.split("=", 2)[1].strip());
        }

        /** Name or path of OpenOCD. */
        public String openOcd() {
            return tool.openOcd;
        }

        public Duration limit() {
            return tool.limit;
        }

        /**
         * What is written to the flash.
         *
         * @param preverify whether a device that already holds it is skipped
         * @param part the part of the image that is written
         */
        public record Content(boolean preverify, Part part) {
            /** The whole image, unless the device holds it already. */
            public static final Content WHOLE = new Content(true, Part.WHOLE);

            /** A part of an image. */
            public enum Part {
                /** The whole image. */
                WHOLE,
                /** The parameters of graphs, which have flash sectors of their own. */
                PARAMETERS,
                /** The models, into the slot whose models do not run. */
                MODELS
            }

            /**
             * Reads the content as the user says it.
             *
             * @param only {@code parameters}, {@code models}, or empty for the whole image
             * @throws KilnException for anything else
             */
            public static Content of(boolean preverify, String only) {
                for (Part part : Part.values()) {
                    if (part != Part.WHOLE && ParameterValue.text(part).equals(only)) {
                        return new Content(preverify, part);
                    }
                }
                if (!only.isEmpty()) {
                    throw Failure.CONFIG.exception(
                            "kiln.flash.only is `" + only + "`", "kiln.flash.only", "parameters, models, or nothing");
                }
                return new Content(preverify, Part.WHOLE);
            }
        }

        /** The part of the image that is written. */
        public Content.Part part() {
            return content.part;
        }

        /** Whether a device that already holds the content is skipped. */
        public boolean preverify() {
            return content.preverify;
        }

        /**
         * Where flashing is recorded.
         *
         * @param log file that gets a line of JSON for each device; several computers may share it
         * @param coordinates {@code group:artifact:version} of the project
         */
        public record Journal(Optional<Path> log, Optional<String> coordinates) {}

        /** File that gets a line of JSON for each device. */
        public Optional<Path> log() {
            return journal.log;
        }

        /** {@code group:artifact:version} of the project. */
        public Optional<String> coordinates() {
            return journal.coordinates;
        }
    }

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
            boolean isBoard = ParameterValue.of("kiln.mlperf.on", MeasuredOn.class, on) == MeasuredOn.BOARD;
            return new MlperfSpec(
                    folder,
                    ParameterValue.of("kiln.mlperf.run", Run.class, run),
                    isBoard ? Optional.of(board) : Optional.empty());
        }
    }

    /** Where an inference is measured: a value of {@code kiln.profile.on}, {@code kiln.tune.on} and {@code kiln.mlperf.on}. */
    public enum MeasuredOn {
        /** An emulator, which counts instructions. */
        EMULATOR,
        /** The board itself, which measures time. */
        BOARD
    }
}
