// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.device.flash.Probe;
import io.kiln.device.lease.Lease;
import io.kiln.device.transport.Transport;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.device.BoardUse;
import io.kiln.flow.device.FlashRunners;
import io.kiln.flow.device.FlashStep;
import io.kiln.flow.device.Leases;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.DeviceSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * A board with the build's image: acquires one, flashes it unless that is skipped, and opens the connection to its program.
 *
 * @param log gets messages about each step
 * @param build what is to run there
 * @param device how the user wants it to be reached
 * @param purpose what it is for, and the parameter by which the user asked for a board
 */
record ProgrammedBoard(Log log, ResolvedBuild build, DeviceSpec device, Purpose purpose) {
    /** Why a board is needed. */
    enum Purpose {
        /** To prove answers. */
        VERIFICATION("Verification", "verify"),
        /** To measure. */
        PROFILE("The profile", "profile");

        private final String title;
        private final String goal;

        Purpose(String title, String goal) {
            this.title = title;
            this.goal = goal;
        }
    }

    /**
     * The answer of a board.
     *
     * @param ranOn the board and the probe, or the port, as reports name them
     * @param value the answer
     */
    record Answer<T>(String ranOn, T value) {}

    /** The exchange with the program. */
    @FunctionalInterface
    interface Talk<T> {
        /**
         * Talks to the program.
         *
         * @param line to the program
         * @param elf the program's ELF file
         * @param text gets what it prints
         */
        T over(Transport line, Path elf, Consumer<String> text);
    }

    /**
     * Talks to the program on the board.
     *
     * @param limit longest time for all of it
     * @throws KilnException if the board cannot be flashed or reached, with the reason and a remedy
     */
    <T> Answer<T> talk(Duration limit, Talk<T> talk) {
        check();
        log.info(
                device.isFlashed()
                        ? purpose.title + " on the board flashes it first (kiln.flash.skip prevents that)"
                        : purpose.title + " does not flash the board: kiln.flash.skip is set");
        Path text = build.spec().layout().reports().resolve(purpose.goal + ".log");
        try (Lease lease = new Leases(BoardUse.of(build), device, limit, text).take()) {
            return talk(lease, talk);
        }
    }

    private <T> Answer<T> talk(Lease lease, Talk<T> talk) {
        Path elf = elf();
        AtomicReference<Optional<Probe>> by = new AtomicReference<>(Optional.empty());
        try (Transport line = lease.start(() -> by.set(bring(lease, elf)))) {
            T answer = talk.over(line, elf, lease.log());
            return new Answer<>(lease.name(by.get()), answer);
        }
    }

    private void check() {
        if (device.isFlashed() && !FlashRunners.areFor(build.board())) {
            throw Failure.BOARD.exception(
                    "the board " + build.board().id() + " has no flash runner, so the image cannot be flashed",
                    "kiln." + purpose.goal + ".on",
                    "flash in " + build.board().origin(),
                    "Use -Dkiln." + purpose.goal
                            + ".on=emulator, or flash it by other means and set -Dkiln.flash.skip");
        }
        if (device.flash()
                .probe()
                .filter(text -> text.contains(",") || text.equals("all"))
                .isPresent()) {
            throw Failure.BOARD.exception(
                    purpose.title.toLowerCase(Locale.ROOT) + " runs on one board, and kiln.probe names several",
                    "kiln.probe",
                    "one probe",
                    "Name one for kiln:" + purpose.goal + "; mvn deploy -Dkiln.verify.on=emulator flashes several");
        }
    }

    /** The image that answers; if flashing is skipped, or another program makes one, what the build has. */
    private Path elf() {
        boolean isOwn = device.isFlashed() && build.board().projectApi().isEmpty();
        return isOwn ? RunnableImage.forTheBoard(log, build).file() : FlashStep.image(build);
    }

    /** Flashes the image unless flashing is skipped; returns the probe that did it. */
    private Optional<Probe> bring(Lease lease, Path elf) {
        return device.isFlashed()
                ? Optional.of(new FlashStep(log, build, device.flash())
                        .flash(elf, lease::flashRunner)
                        .get(0)
                        .probe())
                : Optional.empty();
    }
}
