// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.Outputs;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmJob.FarmTask;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.worker.WorkerSetup.JobRunner;
import io.kiln.farm.worker.WorkerSetup.Offer;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;

/**
 * Work that needs no tools, for tests of the farm itself: the "image" says how often the input is digested, or what kills the worker's process or
 * ends its thread.
 *
 * @param name of the worker
 */
record DigestRunner(String name) implements JobRunner {
    private static final String POISON = "poison";
    private static final String EXHAUSTING = "exhausting";
    private static final String WAITING = "waiting";
    private static final String FINISHING = "finishing";

    /** A job that kills every worker in a process of its own. */
    static FarmJob poison(String board) {
        return job(board, POISON, "");
    }

    /** A job that kills the worker of that name only. */
    static FarmJob poison(String board, String worker) {
        return job(board, POISON + worker, "");
    }

    /** A job for which the worker of that name waits for a program, as for an emulator, and says so on its standard output. */
    static FarmJob waiting(String board, String worker) {
        return job(board, WAITING + worker, "");
    }

    /** The same, but the program ends in some seconds, and then the worker answers. */
    static FarmJob finishing(String board, String worker) {
        return job(board, FINISHING + worker, "");
    }

    /** A job for which a worker has too small a stack. */
    static FarmJob exhausting(String board) {
        return job(board, EXHAUSTING, "");
    }

    /** A job that digests a text some times. */
    static FarmJob digest(String board, int times, String text) {
        return job(board, String.valueOf(times), text);
    }

    private static FarmJob job(String board, String image, String text) {
        FarmTask task = new FarmTask.Run(List.of(new FarmTask.Call(0, List.of(Bytes.ofText(text)))));
        return FarmJob.of(board, RunPlace.EMULATOR, Duration.ofSeconds(20), Bytes.ofText(image), task);
    }

    /** What the digesting job answers. */
    static String digested(int times, String text) {
        Bytes bytes = Bytes.ofText(text);
        for (int i = 0; i < times; i++) {
            bytes = Bytes.ofText(Digests.sha256(bytes.toArray()));
        }
        return bytes.text();
    }

    @Override
    public Done run(FarmJob job, Offer offer) {
        String image = job.image().text();
        if (image.equals(POISON) || image.equals(POISON + name)) {
            Runtime.getRuntime().halt(9);
        }
        if (image.equals(EXHAUSTING)) {
            throw new StackOverflowError();
        }
        if (image.equals(WAITING + name)) {
            System.out.println(WAITING);
            ProcessRunner.run(Command.of("sleep", "60").within(Duration.ofSeconds(60)));
            throw new KilnException(Failure.FARM.problem("the program ended", name));
        }
        if (image.equals(FINISHING + name)) {
            System.out.println(WAITING);
            ProcessResult ended = ProcessRunner.run(Command.of("sleep", "2").within(Duration.ofSeconds(60)));
            // A job may need a program after another one.
            if (ended.exitCode() != 0 || ProcessRunner.run(Command.of("true")).exitCode() != 0) {
                throw new KilnException(Failure.FARM.problem("the program was ended", name));
            }
        }
        if (!(job.task() instanceof FarmTask.Run run)) {
            throw new KilnException(Failure.FARM.problem("digests only", job.id()));
        }
        String text = run.calls().get(0).inputs().get(0).text();
        boolean isNumber = image.chars().allMatch(Character::isDigit);
        int times = isNumber ? Integer.parseInt(image) : 0;
        Outputs outputs = new Outputs(List.of(Bytes.ofText(digested(times, text))));
        return new Done(name, new FarmAnswer.Ran(List.of(), List.of(outputs), List.of(), OptionalLong.empty()));
    }
}
