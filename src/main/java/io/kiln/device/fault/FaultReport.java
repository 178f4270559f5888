// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.fault;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The line that a board's fault handler prints.
 *
 * @param exception number of the exception on Cortex-M, cause on RISC-V
 * @param pc address of the faulting instruction, or of the one that the core had reached
 * @param caller the link register: the return address, unless the function has called others; 0 like the address if the core could not say
 *     either
 * @param status the configurable fault status register of Armv7-M and later; empty on other cores
 * @param address the accessed address, where the core has a register for it; on Arm only valid if the status says so
 */
record FaultReport(long exception, long pc, long caller, OptionalLong status, OptionalLong address) {
    private static final String NUMBER = "0x([0-9a-f]{8})";
    private static final Pattern LINE = Pattern.compile("kiln: exception " + NUMBER + " at " + NUMBER + ", called from "
            + NUMBER + "(?:, status " + NUMBER + ")?(?:, address " + NUMBER + ")?");

    /** The report in a line, if it contains one. */
    static Optional<FaultReport> in(String line) {
        Matcher matcher = LINE.matcher(line);
        return matcher.find()
                ? Optional.of(new FaultReport(
                        number(matcher, 1).getAsLong(),
                        number(matcher, 2).getAsLong(),
                        number(matcher, 3).getAsLong(),
                        number(matcher, 4),
                        number(matcher, 5)))
                : Optional.empty();
    }

    /** Where it was: the function, and its caller if that is known; empty if neither is. */
    String place(ImageSymbols names) {
        if (pc == 0 && caller == 0) {
            return "";
        }
        // The call precedes its return address, whose lowest bit marks Thumb code.
        long call = (caller & ~1L) - 1;
        return names.name(pc) + (names.isCode(call) ? ", called from " + names.name(call) : "");
    }

    private static OptionalLong number(Matcher matcher, int group) {
        String digits = matcher.group(group);
        return digits == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(digits, 16));
    }
}
