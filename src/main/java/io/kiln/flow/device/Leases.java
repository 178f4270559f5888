// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.device.lease.Lease;
import io.kiln.flow.spec.DeviceSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Acquires devices: the first source that supports the kind is used. To add a source, add a class and an entry in the
 * list.
 *
 * @param use the board, and what will run on it
 * @param device how to reach it
 * @param limit time after which a program started by Kiln is stopped
 * @param log file for the program's output
 */
public record Leases(BoardUse use, DeviceSpec device, Duration limit, Path log) {
    private static final List<Source> SOURCES = List.of(ProjectLease::of, VirtualLease::of, SerialLease::of);

    /** A source of devices. */
    @FunctionalInterface
    private interface Source {
        /** A device; empty if another source has those of the board. */
        Optional<Lease> lease(Leases wanted);
    }

    /**
     * Acquires a device without writing to it.
     *
     * @throws KilnException if there is no device, or the choice is ambiguous
     */
    public Lease take() {
        return SOURCES.stream()
                .flatMap(source -> source.lease(this).stream())
                .findFirst()
                .orElseThrow(() -> new KilnException(Failure.DEVICE.problem(
                        "there is no device", "board " + use.board().id(), "", "")));
    }

    /** Runners for devices connected to this computer. */
    FlashRunners flashRunners() {
        return new FlashRunners(Log.QUIET, use, device.flash());
    }
}
