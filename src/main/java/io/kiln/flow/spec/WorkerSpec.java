// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.farm.desk.Labels;
import io.kiln.farm.desk.Labels.WorkerLabels;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.worker.WorkerSetup.Identity;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What a worker offers to a farm.
 *
 * @param address the farm
 * @param identity who it is
 * @param emulators ids of the boards that it emulates; empty for all that QEMU emulates here
 * @param slots how many emulators run at once; 0 for none
 * @param devices the boards that are plugged in
 * @param care of its jobs and boards
 * @param home for leases, which all workers of this computer share, and for what boards need
 */
public record WorkerSpec(
        FarmAddress address,
        Identity identity,
        List<String> emulators,
        int slots,
        List<Device> devices,
        Care care,
        Path home) {
    public WorkerSpec {
        emulators = List.copyOf(emulators);
        devices = List.copyOf(devices);
    }

    /**
     * How it cares for jobs and boards.
     *
     * @param openOcd name or path of OpenOCD
     * @param drain how long jobs that run may go on when it is told to end
     * @param power a command that switches a board's power off and on; empty if there is none
     */
    public record Care(String openOcd, Duration drain, Optional<String> power) {
        /** That of a worker whose owner says nothing. */
        public static final Care USUAL = new Care("openocd", Duration.ofSeconds(45), Optional.empty());
    }

    /**
     * A board that is plugged in.
     *
     * @param board its id
     * @param probe its probe as in {@code kiln.probe}: the serial number, or a name for a virtual board
     * @param labels of its own, which count before those of the worker
     */
    public record Device(String board, String probe, Labels labels) {
        /** A board without labels of its own. */
        public Device(String board, String probe) {
            this(board, probe, Labels.NONE);
        }

        /** The same board, with what a worker says of it. */
        public Device labelled(WorkerLabels said) {
            return new Device(board, probe, said.slots().getOrDefault(probe, Labels.NONE));
        }
    }
}
