// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.device.flash.Probe;
import io.kiln.device.lease.Lease;
import io.kiln.device.transport.Transport;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.device.FlashRunners;
import io.kiln.flow.device.FlashStep;
import io.kiln.flow.device.Leases;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.toolchain.board.Board;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/** Verifies on the board itself: acquires one, flashes it unless that is skipped, and talks to it. */
final class BoardVerification {
    private final Log log;
    private final ResolvedBuild build;
    private final DeviceSpec device;

    BoardVerification(Log log, ResolvedBuild build, DeviceSpec device) {
        this.log = log;
        this.build = build;
        this.device = device;
    }

    /**
     * The result of a board.
     *
     * @param ranOn the board and the probe, or the port, as reports name them
     * @param outcome the comparison of its answers
     */
    record Answer(String ranOn, Verification.Outcome outcome) {}

    /**
     * Runs the cases. If the board gives no answer or a wrong one, the outcome says so.
     *
     * @throws KilnException if the board cannot be flashed or reached, with the reason and a remedy
     */
    Answer run(List<VerificationCases> models) {
        check(build.board());
        log.info(
                device.isFlashed()
                        ? "Verification on the board flashes it first (kiln.flash.skip prevents that)"
                        : "Verification does not flash the board: kiln.flash.skip is set");
        Path text = build.spec().layout().reports().resolve("verify.log");
        try (Lease lease = new Leases(build, device, Verification.limit(models), text).take()) {
            return verify(lease, models);
        }
    }

    private Answer verify(Lease lease, List<VerificationCases> models) {
        Path elf = elf();
        AtomicReference<Optional<Probe>> by = new AtomicReference<>(Optional.empty());
        try (Transport line = lease.start(() -> by.set(bring(lease, elf)))) {
            Verification.Outcome outcome = Verification.run(line, elf, lease.log(), models);
            return new Answer(lease.name(by.get()), outcome);
        }
    }

    private void check(Board board) {
        if (device.isFlashed() && !FlashRunners.areFor(board)) {
            throw new KilnException(new Problem(
                    "the board " + board.id() + " has no flash runner, so the image cannot be flashed",
                    "kiln.verify.on",
                    "flash in " + board.origin(),
                    "Use -Dkiln.verify.on=emulator, or flash it by other means and set -Dkiln.flash.skip"));
        }
        if (device.flash()
                .probe()
                .filter(text -> text.contains(",") || text.equals("all"))
                .isPresent()) {
            throw new KilnException(new Problem(
                    "verification runs on one board, and kiln.probe names several",
                    "kiln.probe",
                    "one probe",
                    "Name one for mvn verify; mvn deploy -Dkiln.verify.on=emulator flashes several"));
        }
    }

    /** The image that answers; if flashing is skipped, the build's. */
    private Path elf() {
        return device.isFlashed()
                ? RunnableImage.forTheBoard(log, build).file()
                : build.spec().layout().image("elf");
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
