// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

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
}
