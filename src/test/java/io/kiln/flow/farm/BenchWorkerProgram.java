// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import io.kiln.base.Log;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.worker.Worker;
import io.kiln.farm.worker.WorkerSetup.Identity;
import io.kiln.flow.spec.WorkerSpec;
import io.kiln.flow.spec.WorkerSpec.Device;
import io.kiln.flow.worker.WorkerStep;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Boards;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A worker with QEMU and a virtual board in a process of its own. */
public final class BenchWorkerProgram {
    /** How the members of the tests' farms get in. */
    static final FarmAccess MEMBER = FarmAccess.by("tea and scones");

    private BenchWorkerProgram() {}

    /** Arguments: the farm's URL, the worker's name, its virtual board or nothing, {@code kiln.home}, the folder of keys or nothing. Ends with its standard input. */
    public static void main(String[] args) throws Exception {
        WorkerSpec spec = new WorkerSpec(
                SoakPlace.address(args[0], args[4], "member"),
                new Identity(args[1], "1.0.0", Labels.NONE),
                List.of("mps2-an386"),
                1,
                args[2].isEmpty() ? List.of() : List.of(new Device("virtual-stm32f405", args[2])),
                WorkerSpec.Care.USUAL,
                Path.of(args[3]));
        Worker worker = new WorkerStep(Log.QUIET, Boards.builtIn(), spec).start();
        System.in.transferTo(System.out);
        worker.close();
    }

    /** Starts one; its temporary files, and so the command lines of its emulators, are in {@code home}. */
    static RunningProcess fork(FarmAddress address, String name, String board, Path home) {
        return fork(List.of(), address, name, board, home, "");
    }

    /**
     * The same.
     *
     * @param before words of the command line before {@code java}
     * @param keys folder of keys; empty for a password
     */
    static RunningProcess fork(
            List<String> before, FarmAddress address, String name, String board, Path home, String keys) {
        List<String> line = new ArrayList<>(before);
        line.addAll(TestPrograms.java(BenchWorkerProgram.class, "-Djava.io.tmpdir=" + home.resolve("tmp")));
        line.addAll(List.of(address.url(), name, board, home.toString(), keys));
        return ProcessRunner.start(Command.ofLine(line).within(Duration.ofHours(2)));
    }
}
