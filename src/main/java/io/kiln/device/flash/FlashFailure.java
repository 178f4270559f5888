// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.device.flash.FlashFailure.Kind;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Why flashing a device failed.
 *
 * @param kind the class of failure
 * @param detail details of this failure: the program's line, the missing script, the probes to choose from
 * @param address the address concerned, for write errors and mismatches, if the program named it
 * @param begun whether the flash had already been changed, so that the old image is gone
 */
public record FlashFailure(Kind kind, String detail, OptionalLong address, boolean begun) {
    /** Classes of failure, each with its meaning and remedy. */
    public enum Kind {
        /** The program is missing. */
        NO_OPENOCD("OpenOCD is missing", "Install it (apt-get install openocd) or name it with kiln.openocd"),
        /** Another program is missing. */
        NO_PROGRAM(
                "the program that flashes is missing",
                "Name it with -Dkiln.flash.runner=<runner>=<path> if it is elsewhere"),
        /** This version of OpenOCD lacks the script. */
        SCRIPT_MISSING(
                "this version of OpenOCD lacks a script that the board names",
                "Install a newer OpenOCD, or correct flash.openocd in the board's board.yaml"),
        /** No probe answered. */
        NO_PROBE(
                "no debug probe was found",
                "Connect it, and check that you may open it (udev rules) and that no other program uses it"),
        /** Several probes are connected and none was named; Kiln does not guess. */
        SEVERAL_PROBES(
                "several debug probes are connected",
                "Name one with -Dkiln.probe=<serial>, or all with -Dkiln.probe=all"),
        /** The probe answers but the chip does not. */
        NO_TARGET(
                "the probe cannot reach a chip",
                "Check power, ground and the debug cable; hold reset while it connects if the program disables"
                        + " debugging"),
        /** The chip is not the board's. */
        WRONG_CHIP(
                "the chip is not the one in the board's description",
                "Check which board is on this probe and choose it with kiln.board; nothing was written"),
        /** The chip's protection is active. */
        LOCKED(
                "the chip is locked or its flash is protected",
                "Remove the protection with the vendor's tool, which erases the chip, and flash again"),
        /** The image has bytes where the chip has no flash. */
        OUTSIDE_FLASH(
                "the image does not lie within the chip's flash",
                "Correct the memories in board.yaml and its linker script; nothing was written"),
        /** The device must not get this update. */
        REFUSED("the update is not for this device", "Nothing was written"),
        /** A write or an erase of the flash failed. */
        WRITE_ERROR(
                "the flash could not be written",
                "Check the supply voltage and the memory map, then flash again; if it fails at the same address again,"
                        + " the chip is worn"),
        /** The data read back differ from the data written. */
        VERIFY_MISMATCH(
                "the device's content differs from the image",
                "Flash again with a slower clock (speed in board.yaml); if it fails at the same address again, the"
                        + " chip is worn"),
        /** The connection was lost after it had worked. */
        PROBE_LOST("the connection to the probe broke", "Look at the cable and the hub, then flash again"),
        TIME_OUT(
                "the program did not finish in time and was killed",
                "Unplug and replug the probe and flash again; a slow probe may need a larger kiln.flash.timeout"),
        /** The build was stopped. */
        INTERRUPTED("flashing was interrupted", "Flash again"),
        /** The board's Project API server did not build or flash. */
        SERVER("the board's Project API server failed", "Its messages are in project.log and project-template.log"),
        /** A service in a dependency of the plugin failed. */
        SERVICE("the board's flash service failed", "Its maker knows what the message means"),
        /** The program failed for another reason. */
        OTHER("the program failed", "Its whole output is in the log");

        private final String meaning;
        private final String remedy;

        Kind(String meaning, String remedy) {
            this.meaning = meaning;
            this.remedy = remedy;
        }

        /** The kind with this {@link #id}. */
        static Kind of(String id) {
            return valueOf(id.toUpperCase(Locale.ROOT).replace('-', '_'));
        }

        /** The meaning, in one sentence without a full stop. */
        public String meaning() {
            return meaning;
        }

        /** The remedy, in one sentence without a full stop. */
        public String remedy() {
            return remedy;
        }

        /** The name in {@code flash.json}, such as {@code no-probe}. */
        public String id() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** A failure before the flash was changed. */
    static FlashFailure before(Kind kind, String detail) {
        return new FlashFailure(kind, detail, OptionalLong.empty(), false);
    }

    /**
     * A failure of a Project API server, which does not tell whether it has changed the flash.
     *
     * @param detail its message
     */
    public static FlashFailure ofServer(String detail) {
        return before(Kind.SERVER, detail);
    }

    /**
     * A failure of a service of others, which does not tell whether it has changed the flash.
     *
     * @param detail its message
     */
    public static FlashFailure ofService(String detail) {
        return before(Kind.SERVICE, detail);
    }

    /**
     * A device that must not get an update.
     *
     * @param why what does not fit
     */
    public static FlashFailure refused(String why) {
        return before(Kind.REFUSED, why);
    }

    /**
     * A build that was stopped.
     *
     * @param begun whether the flash may have been changed, so that the old image is gone
     */
    public static FlashFailure interrupted(boolean begun) {
        return new FlashFailure(Kind.INTERRUPTED, "", OptionalLong.empty(), begun);
    }

    /** The same failure of a device whose program was not touched. */
    public FlashFailure besideTheProgram() {
        return new FlashFailure(kind, detail, address, false);
    }

    /**
     * The failure as a message for users.
     *
     * @param where the probe, the board's description or the goal
     */
    public Problem problem(String where) {
        return Failure.FLASH.problem(text(), where, "", kind.remedy());
    }

    /** The {@link #problem} as an exception. */
    public KilnException exception(String where) {
        return new FlashFailed(this, where);
    }

    /** The meaning, with the address and the program's message. */
    public String text() {
        StringBuilder text = new StringBuilder(kind.meaning());
        address.ifPresent(value -> text.append(" at ").append(Tcl.address(value)));
        Optional.of(detail)
                .filter(said -> !said.isEmpty())
                .ifPresent(said -> text.append(": ").append(said));
        if (begun) {
            text.append("; the board is not bootable now, the next flash repairs it");
        }
        return text.toString();
    }

    /** A failure of one device as an exception. */
    public static final class FlashFailed extends KilnException {
        private static final long serialVersionUID = 1;

        private final transient FlashFailure failure;

        /**
         * A failure.
         *
         * @param where the probe, the board's description or the goal
         */
        FlashFailed(FlashFailure failure, String where) {
            super(failure.problem(where));
            this.failure = failure;
        }

        public FlashFailure failure() {
            return failure;
        }
    }

    /**
     * Classifies the output of OpenOCD 0.12, and of other programs by their own rules. One cause produces many lines, so the first rule that matches any line
     * decides; causes come before their consequences.
     */
    static final class FailureRules {
        /** A kind and its pattern; group {@code address} is the address, group {@code offset} is added to it. */
        record Rule(Kind kind, Pattern pattern) {}

        private static final String WRONG_CHIP = OpenOcdOutput.MARK + "wrong-chip";
        private static final String PROTECTED = OpenOcdOutput.MARK + "locked";

        private static final List<Rule> RULES = List.of(
                rule(Kind.SCRIPT_MISSING, "Can't find \\S+"),
                rule(
                        Kind.PROBE_LOST,
                        "remote_bitbang_(putc|fill_buf|read_sample)|remote_bitbang_recv_buf_empty|Broken pipe|Connection reset"
                                + "|LIBUSB_ERROR_(NO_DEVICE|IO|PIPE)|errno==(32|104)"
                                + "|CMSIS-DAP.*(error reading|error writing|failed to receive)"),
                rule(
                        Kind.NO_PROBE,
                        "unable to find a matching CMSIS-DAP device|Error: open failed|No J-Link device found"
                                + "|Invalid serial number|unable to open ftdi device|[Nn]o (usb|USB) device|[Nn]o device found"
                                + "|Failed to connect|LIBUSB_ERROR_(ACCESS|NOT_FOUND|BUSY)|couldn't open CMSIS-DAP"),
                rule(Kind.LOCKED, PROTECTED),
                rule(
                        Kind.LOCKED,
                        "device protected|Device Security Bit|AP lock engaged|is protected|write.protected|read.?out protect"
                                + "|device (is )?locked|flash is locked|RDP level [12]"),
                rule(Kind.WRONG_CHIP, "UNEXPECTED:|" + WRONG_CHIP),
                rule(
                        Kind.NO_TARGET,
                        "unable to connect to the target|Invalid ACK|scan chain interrogation failed|cannot read IDR"
                                + "|Could not find MEM-AP|[Tt]arget not examined|target voltage may be too low"
                                + "|timed out while waiting for target halted|Error connecting DP|double-check your JTAG setup"),
                rule(
                        Kind.WRONG_CHIP,
                        "Cannot identify target|auto_probe failed|probing failed for flash bank|[Uu]nknown (device|chip)|@@kiln no-bank"),
                rule(
                        Kind.OUTSIDE_FLASH,
                        "@@kiln outside (?<address>0x[0-9a-fA-F]+)|no flash bank found for address (?<address2>0x[0-9a-fA-F]+)"),
                rule(
                        Kind.WRITE_ERROR,
                        "error writing to flash at address (?<address>0x[0-9a-fA-F]+) at offset (?<offset>0x[0-9a-fA-F]+)"),
                rule(
                        Kind.WRITE_ERROR,
                        "flash write (algorithm aborted|failed)|error executing .*write algorithm|failed (erasing|setting)"
                                + "|Error erasing|failed to erase|erase.* failed"),
                rule(Kind.VERIFY_MISMATCH, "diff \\d+ address (?<address>0x[0-9a-fA-F]+)\\. Was .*"),
                rule(Kind.VERIFY_MISMATCH, "checksum mismatch|contents differ|Verify Failed"),
                rule(Kind.NO_TARGET, "STICKY ERROR|[Ff]ailed to read memory"));

        private FailureRules() {}

        private static Rule rule(Kind kind, String pattern) {
            return new Rule(kind, Pattern.compile(pattern));
        }

        /** The failure that these lines of OpenOCD report, if any. */
        static Optional<FlashFailure> classify(List<String> lines, boolean begun) {
            return classify(RULES, lines, begun);
        }

        /** The failure that these lines report by a program's rules, if any. */
        static Optional<FlashFailure> classify(List<Rule> rules, List<String> lines, boolean begun) {
            for (Rule rule : rules) {
                for (String line : lines) {
                    Matcher matcher = rule.pattern().matcher(line);
                    if (matcher.find()) {
                        return Optional.of(new FlashFailure(rule.kind(), said(line), address(matcher), begun));
                    }
                }
            }
            return Optional.empty();
        }

        private static OptionalLong address(Matcher matcher) {
            OptionalLong address = number(matcher, "address");
            if (address.isEmpty()) {
                return number(matcher, "address2");
            }
            return OptionalLong.of(
                    address.getAsLong() + number(matcher, "offset").orElse(0));
        }

        private static OptionalLong number(Matcher matcher, String group) {
            if (!matcher.pattern().pattern().contains("(?<" + group + ">") || matcher.group(group) == null) {
                return OptionalLong.empty();
            }
            return OptionalLong.of(Long.parseUnsignedLong(matcher.group(group).substring(2), 16));
        }

        /** The line without its severity; of Kiln's own script only messages for people. */
        private static String said(String line) {
            if (line.startsWith(OpenOcdOutput.MARK)) {
                return Stream.of(WRONG_CHIP, PROTECTED)
                        .filter(line::startsWith)
                        .map(mark -> line.substring(mark.length()).strip())
                        .findFirst()
                        .orElse("");
            }
            return line.replaceFirst("^(Error|Warn|Info)\\s*: ", "").strip();
        }
    }
}
