// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import io.kiln.base.Log;
import io.kiln.farm.client.FarmClient;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.job.FarmAnswer.FarmResult;
import io.kiln.farm.lease.BoardLeases;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.worker.Worker;
import io.kiln.farm.worker.WorkerSetup;
import io.kiln.farm.worker.WorkerSetup.Identity;
import io.kiln.farm.worker.WorkerSetup.Offer;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.RunningProcess;
import io.kiln.process.TestPrograms;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A worker in a process of its own. */
public final class DigestWorkerProgram {
    /** How the members of the tests' farms get in. */
    static final FarmAccess MEMBER = FarmAccess.by("tea and scones");

    private DigestWorkerProgram() {}

    /**
     * Arguments: the farm's URL, the worker's name, the board, the folder of leases. Ends with its standard input, or, with the seconds for which its jobs
     * may go on as another argument, when it is told to end. Or, without a farm: how often each
     * job digests; then it does a job for each line of its standard input, and answers each by a line. Or no worker but a build: the farm's URL and a
     * board, to which it gives a job, says so, and waits.
     */
    public static void main(String[] args) throws Exception {
        if (args.length == 2) {
            FarmAddress farm = FarmAddress.parse(args[0], MEMBER);
            FarmClient client = FarmClient.connect(farm, FarmTerms.of(Duration.ofMinutes(1)), Log.QUIET);
            CompletableFuture<FarmResult> result = client.submit(DigestRunner.digest(args[1], 1, "x"));
            System.out.println("waiting");
            result.join();
            return;
        }
        if (args.length == 1) {
            alone(Integer.parseInt(args[0]));
            return;
        }
        Worker worker = start(FarmAddress.parse(args[0], MEMBER), args[1], args[2], Path.of(args[3]));
        if (args.length > 4) {
            worker.untilEnd(Duration.ofSeconds(Long.parseLong(args[4])));
            return;
        }
        System.in.transferTo(System.out);
        worker.close();
    }

    private static void alone(int times) throws IOException {
        BufferedReader jobs = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String job = jobs.readLine(); job != null; job = jobs.readLine()) {
            System.out.println(DigestRunner.digested(times, job));
        }
    }

    /** The same in this process. */
    static Worker start(FarmAddress address, String name, String board, Path leases) {
        return Worker.start(
                new WorkerSetup(
                        address,
                        new Identity(name, "1.0.0", Labels.NONE),
                        List.of(Offer.emulator(board, "test")),
                        1,
                        new BoardLeases(leases, Clock.systemUTC(), BoardLeases.USUAL_TERM)),
                new DigestRunner(name),
                Log.QUIET);
    }

    /** The same in another process. */
    static RunningProcess fork(FarmAddress address, String name, String board, Path leases) {
        return fork(List.of(address.url(), name, board, leases.toString()));
    }

    /** The same; its jobs go on for some seconds when it is told to end. */
    static RunningProcess fork(FarmAddress address, String name, String board, Path leases, int drain) {
        return fork(List.of(address.url(), name, board, leases.toString(), String.valueOf(drain)));
    }

    /** A build in another process that waits for a board. */
    static RunningProcess forkBuild(FarmAddress address, String board) {
        return fork(List.of(address.url(), board));
    }

    /** The same work in another process without a farm: a job of {@code times} digests for each line. */
    static RunningProcess forkAlone(int times) {
        return fork(List.of(String.valueOf(times)));
    }

    private static RunningProcess fork(List<String> arguments) {
        List<String> line = TestPrograms.java(DigestWorkerProgram.class);
        line.addAll(arguments);
        return ProcessRunner.start(Command.ofLine(line).within(Duration.ofMinutes(30)));
    }
}
