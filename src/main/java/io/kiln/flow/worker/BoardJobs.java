// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.device.flash.FlashProgress;
import io.kiln.device.flash.FlashResult;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.lease.Lease;
import io.kiln.device.protocol.ConsoleProtocol;
import io.kiln.device.protocol.Conversation;
import io.kiln.device.transport.SessionLimits;
import io.kiln.device.transport.Transport;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.Failed;
import io.kiln.farm.job.FarmAnswer.Flashed;
import io.kiln.farm.job.FarmAnswer.Heard;
import io.kiln.farm.job.FarmAnswer.Timed;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmResult;
import io.kiln.farm.job.FarmTask.Flash;
import io.kiln.farm.job.FarmTask.Listen;
import io.kiln.farm.job.FarmTask.Run;
import io.kiln.farm.job.FarmTask.Time;
import io.kiln.farm.worker.JobRunner.Done;
import io.kiln.flow.device.BoardImage;
import io.kiln.flow.device.BoardUse;
import io.kiln.flow.device.FlashRunners;
import io.kiln.flow.device.Leases;
import io.kiln.flow.device.NumberedLines;
import io.kiln.flow.device.TimedRuns;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.flow.spec.FlashSpec;
import io.kiln.flow.spec.FlashSpec.Content;
import io.kiln.flow.spec.FlashSpec.Journal;
import io.kiln.flow.spec.FlashSpec.Tool;
import io.kiln.toolchain.board.Board;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;

/** Flashes images of jobs to a board of this computer, and talks to them. */
final class BoardJobs {
    private final BoardUse use;
    private final DeviceSpec device;
    private final FarmJob job;
    private final Path image;
    private final Path console;
    private int flashes;

    /**
     * @param board this computer's description of it
     * @param probe its probe
     * @param openOcd name or path of OpenOCD
     * @param folder for this board's scripts and logs, and for the flash content of a virtual one
     * @param image the job's image as a file
     */
    BoardJobs(Board board, String probe, String openOcd, Path folder, FarmJob job, Path image) {
        this.use = new BoardUse(board.fenced(), new Layout(folder, folder, "job"), false, Optional.empty());
        FlashSpec flash = new FlashSpec(
                Optional.of(probe),
                new Tool(openOcd, job.limit()),
                Content.WHOLE,
                new Journal(Optional.empty(), Optional.empty()),
                Optional.empty(),
                false,
                false);
        this.device = new DeviceSpec(flash, true, ConsoleSpec.OF_BOARD);
        this.job = job;
        this.image = image;
        this.console = folder.resolve("console.log");
    }

    /** How often the flash was written. */
    int flashes() {
        return flashes;
    }

    /** Runs the job; one that fails has an outcome, too, with what the board printed. */
    Done run() {
        try {
            Files.deleteIfExists(console);
            Done done = tried();
            return new Done(done.ranOn(), done.answer(), printed());
        } catch (KilnException e) {
            return new Done(use.board().id(), new Failed(e.problems()), printed());
        } catch (IOException e) {
            throw FileFailure.of("cannot write", console, e);
        }
    }

    /** The end of what the board printed. */
    private Bytes printed() {
        try (SeekableByteChannel file = Files.newByteChannel(console)) {
            file.position(Math.max(0, file.size() - FarmResult.MOST_CONSOLE));
            return Bytes.wrap(Channels.newInputStream(file).readNBytes(FarmResult.MOST_CONSOLE));
        } catch (IOException e) {
            // It printed nothing, or was not started.
            return Bytes.wrap(new byte[0]);
        }
    }

    private Done tried() {
        if (job.task() instanceof Flash) {
            try (FlashRunner runner = new FlashRunners(Log.QUIET, use, device.flash()).open()) {
                FlashResult result = flash(runner);
                Flashed flashed = new Flashed(
                        runner.tool(),
                        result.probe().text(),
                        result.bytes(),
                        result.unchanged(),
                        result.elapsed().toMillis());
                return new Done(use.board().id() + ", probe " + result.probe().text(), flashed);
            }
        }
        if (job.task() instanceof Run run) {
            return run(run);
        }
        if (job.task() instanceof Listen listen) {
            return talk((line, log) -> {
                NumberedLines.Heard heard = NumberedLines.read(line, job.limit(), listen.prefix(), listen.lines(), log);
                return new Heard(heard.lines(), heard.isTimeOver());
            });
        }
        if (job.task() instanceof Time time) {
            return talk((line, log) ->
                    new Timed(new TimedRuns(time.models(), job.limit(), SessionLimits.USUAL).over(line, image, log)));
        }
        throw Failure.FARM.exception(
                "a board does not count instructions", use.board().id(), "a worker with an emulator");
    }

    private Done run(Run run) {
        return talk((line, log) ->
                new RunCalls(run.calls()).over(line, new Conversation(new ConsoleProtocol(job.limit()), image, log)));
    }

    /** The exchange with the program. */
    @FunctionalInterface
    private interface Talk {
        FarmAnswer over(Transport line, Consumer<String> log);
    }

    private Done talk(Talk talk) {
        try (Lease lease = new Leases(use, device, job.limit(), console).take();
                Transport line = lease.start(() -> bring(lease))) {
            FarmAnswer answer = talk.over(line, lease.log());
            return new Done(lease.name(Optional.empty()), answer);
        }
    }

    private void bring(Lease lease) {
        try (FlashRunner runner = lease.flashRunner()) {
            flash(runner);
        }
    }

    private FlashResult flash(FlashRunner runner) {
        FlashResult result =
                runner.flash(runner.probes().get(0), BoardImage.read(use.board(), image), FlashProgress.QUIET);
        result.failure().ifPresent(failure -> {
            throw failure.exception(result.probe().text());
        });
        flashes += result.unchanged() ? 0 : 1;
        return result;
    }
}
