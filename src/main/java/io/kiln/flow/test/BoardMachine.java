// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import io.kiln.base.Log;
import io.kiln.device.fault.StackUse;
import io.kiln.device.lease.Lease;
import io.kiln.device.transport.TimedInput;
import io.kiln.device.transport.Transport;
import io.kiln.flow.device.BoardUse;
import io.kiln.flow.device.FlashStep;
import io.kiln.flow.device.Leases;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.DeviceSpec;
import java.nio.file.Path;
import java.util.OptionalInt;

/**
 * The machine that is a board, real or virtual. It is flashed before each test, which also starts its program; a board that holds
 * the image already is only started.
 *
 * @param log gets messages about each step
 * @param build what is under test
 * @param device how the board is reached
 * @param logs folder of the programs' output
 */
record BoardMachine(Log log, ResolvedBuild build, DeviceSpec device, Path logs) implements ProgramMachine {
    @Override
    public String name() {
        return "the board " + build.board().id();
    }

    @Override
    public Result run(ProgramScript script) {
        Path elf = FlashStep.image(build);
        try (Lease lease = new Leases(BoardUse.of(build), device, script.limit(), logs.resolve(script.name() + ".log"))
                        .take();
                Transport line = lease.start(() -> bring(lease, elf))) {
            ProgramRun program = new ProgramRun(
                    new TimedInput(line.input()),
                    line.output(),
                    elf,
                    OptionalInt::empty,
                    reported -> StackUse.of(elf, reported));
            return ProgramTest.run(script, program, lease.log());
        }
    }

    private void bring(Lease lease, Path elf) {
        if (device.isFlashed()) {
            new FlashStep(log, build, device.flash()).flash(elf, lease::flashRunner);
        }
    }
}
