// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.device.flash.FlashFailure.Kind;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Classifies the output of OpenOCD 0.12, and of other programs by their own rules. One cause produces many lines, so the first rule that matches any line
 * decides; causes come before their consequences.
 */
final class FailureRules {
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
        return OptionalLong.of(address.getAsLong() + number(matcher, "offset").orElse(0));
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
