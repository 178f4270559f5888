// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Why a device was not flashed.
 *
 * @param kind the class of failure
 * @param detail what is known of this one: the line that OpenOCD said, the missing script, the probes to choose from
 * @param address the address that it is about, for write errors and mismatches, if OpenOCD named it
 * @param begun whether the device's flash was being changed, so that the old image is gone
 */
public record FlashFailure(Kind kind, String detail, OptionalLong address, boolean begun) {
    /** Classes of failure, each with what it means and what helps. */
    public enum Kind {
        /** The program is not there. */
        NO_OPENOCD("OpenOCD is not there", "Install it (apt-get install openocd) or name it with kiln.openocd"),
        /** This version of OpenOCD has no such script. */
        SCRIPT_MISSING(
                "a script that the board names is not in this version of OpenOCD",
                "Install a newer OpenOCD, or correct flash.openocd in the board's board.yaml"),
        /** No probe answers. */
        NO_PROBE(
                "no debug probe was found",
                "Plug it in, look that you may open it (OpenOCD's udev rules), and that no other program uses it"),
        /** Which one is not for Kiln to guess. */
        SEVERAL_PROBES(
                "several debug probes are there", "Name one with -Dkiln.probe=<serial>, or all with -Dkiln.probe=all"),
        /** The probe is there and the chip is not. */
        NO_TARGET(
                "the probe reaches no chip",
                "Look at power, ground and the debug cable; hold reset while it connects if the program switches debugging off"),
        /** Another chip than the board's. */
        WRONG_CHIP(
                "the chip is not the one that the board's description names",
                "Look which board is on this probe and choose it with kiln.board; nothing was written"),
        /** Protection of the chip. */
        LOCKED(
                "the chip is locked or its flash is protected",
                "Remove the protection with the vendor's tool, which erases the chip, and flash again"),
        /** The image has bytes where the chip has no flash. */
        OUTSIDE_FLASH(
                "the image does not lie in the chip's flash",
                "Correct the memories in board.yaml and its linker script; nothing was written"),
        /** The flash did not take a write or an erase. */
        WRITE_ERROR(
                "the flash could not be written",
                "Look at the supply voltage and the memory map, then flash again; if it stays at the same address the chip is worn"),
        /** What is read is not what was written. */
        VERIFY_MISMATCH(
                "what the device holds is not the image",
                "Flash again, with a slower clock (flash.openocd.speed); if it stays at the same address the chip is worn"),
        /** The probe was there and went away. */
        PROBE_LOST("the connection to the probe broke", "Look at the cable and the hub, then flash again"),
        /** Time is over. */
        TIME_OUT(
                "OpenOCD did not come to an end in time and was killed",
                "Plug the probe out and in and flash again; a slow probe may need a larger kiln.flash.timeout"),
        /** The build was stopped. */
        INTERRUPTED("flashing was interrupted", "Flash again"),
        /** OpenOCD failed in a way that is none of the others. */
        OTHER("OpenOCD failed", "Its whole output is in the log");

        private final String meaning;
        private final String remedy;

        Kind(String meaning, String remedy) {
            this.meaning = meaning;
            this.remedy = remedy;
        }

        /** What happened, in one sentence without a full stop. */
        public String meaning() {
            return meaning;
        }

        /** What helps, in one sentence without a full stop. */
        public String remedy() {
            return remedy;
        }

        /** The name in {@code flash.json}, such as {@code no-probe}. */
        public String id() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** A failure before anything was changed. */
    static FlashFailure before(Kind kind, String detail) {
        return new FlashFailure(kind, detail, OptionalLong.empty(), false);
    }

    /**
     * The failure as users read it.
     *
     * @param where the probe, the board's description or the goal
     */
    public Problem problem(String where) {
        return new Problem(text(), where, "", kind.remedy());
    }

    /** {@link #problem} as an exception. */
    public KilnException exception(String where) {
        return new KilnException(problem(where));
    }

    /** What happened, with the address and what OpenOCD said. */
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
}
