// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.ParameterValue;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

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
