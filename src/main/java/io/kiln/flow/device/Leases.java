// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.device.lease.Lease;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.DeviceSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Where devices come from: the first source that has one of the kind is taken. A further source is one class, and one line in the list.
 *
 * @param build what is to run on the device
 * @param device how the user says that it is reached
 * @param limit time after which a program is stopped that Kiln has started itself
 * @param log file for what the program prints
 */
public record Leases(ResolvedBuild build, DeviceSpec device, Duration limit, Path log) {
    private static final List<Source> SOURCES = List.of(VirtualLease::of, SerialLease::of);

    /** A source of devices. */
    @FunctionalInterface
    private interface Source {
        /** A device; empty if those of the board come from elsewhere. */
        Optional<Lease> lease(Leases wanted);
    }

    /**
     * Takes a device. Nothing is written to it yet.
     *
     * @throws KilnException if it cannot be told which one is meant, or there is none
     */
    public Lease take() {
        return SOURCES.stream()
                .flatMap(source -> source.lease(this).stream())
                .findFirst()
                .orElseThrow(() -> new KilnException(new Problem(
                        "there is no device", "board " + build.board().id(), "", "")));
    }

    /** What flashes devices of this computer. */
    FlashRunners flashRunners() {
        return new FlashRunners(build.board(), device.flash(), build.spec().layout());
    }
}
