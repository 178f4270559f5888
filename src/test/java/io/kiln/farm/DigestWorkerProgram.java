// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import io.kiln.base.Log;
import io.kiln.farm.lease.BoardLeases;
import io.kiln.farm.link.FarmAccess;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.worker.Offer;
import io.kiln.farm.worker.Worker;
import io.kiln.farm.worker.WorkerSetup;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.RunningProcess;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;

/** A worker in a process of its own. */
public final class DigestWorkerProgram {
    private DigestWorkerProgram() {}

    /** Arguments: the farm's URL, the worker's name, the board, the folder of leases. Ends with its standard input. */
    public static void main(String[] args) throws Exception {
        Worker worker = start(FarmAddress.parse(args[0], FarmAccess.NONE), args[1], args[2], Path.of(args[3]));
        System.in.transferTo(System.out);
        worker.close();
    }

    /** The same in this process. */
    static Worker start(FarmAddress address, String name, String board, Path leases) {
        return Worker.start(
                new WorkerSetup(
                        address,
                        name,
                        List.of(Offer.emulator(board, "test")),
                        1,
                        new BoardLeases(leases, Clock.systemUTC(), BoardLeases.USUAL_TERM)),
                new DigestRunner(name),
                Log.QUIET);
    }

    /** The same in another process. */
    static RunningProcess fork(FarmAddress address, String name, String board, Path leases) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return ProcessRunner.start(Command.of(
                        java,
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Dslf4j.internal.verbosity=ERROR",
                        "-cp",
                        System.getProperty("java.class.path"),
                        DigestWorkerProgram.class.getName(),
                        address.url(),
                        name,
                        board,
                        leases.toString())
                .within(Duration.ofMinutes(30)));
    }
}
