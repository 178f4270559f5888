// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.Problem;
import io.kiln.base.elf.ElfFile;
import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.desk.FarmEvents;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.Failed;
import io.kiln.farm.job.FarmAnswer.Ran;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.state.BoardHistory;
import io.kiln.farm.worker.JobRunner;
import io.kiln.farm.worker.Offer;
import io.kiln.toolchain.board.Boards;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Runs jobs with this computer's descriptions of boards.
 *
 * @param boards the descriptions
 * @param openOcd name or path of OpenOCD
 * @param folder for what boards need, a folder for each
 * @param power switches the power of boards that fail; empty if nothing does
 * @param events hears of that
 */
record WorkerJobs(Boards boards, String openOcd, Path folder, Optional<PowerSwitch> power, FarmEvents events)
        implements JobRunner {
    private static final int DIGITS = 16;
    private static final BoardHistories HISTORIES = new BoardHistories(Clock.systemUTC());

    /** Families of failures that a board without power would have, too. */
    private static final Set<Failure> OF_BOARDS = Set.of(Failure.DEVICE, Failure.FLASH, Failure.RUN, Failure.RPC);

    @Override
    public Done run(FarmJob job, Offer offer) {
        try {
            Path image = Files.createTempFile("kiln-job", ".elf");
            try {
                // Temporary files are private, and stay so.
                Files.write(image, job.image().toArray());
                ElfFile.read(image);
                return run(job, offer, image);
            } finally {
                Files.deleteIfExists(image);
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot keep an image in", Path.of(System.getProperty("java.io.tmpdir", "")), e);
        }
    }

    private Done run(FarmJob job, Offer offer, Path image) {
        if (offer.place() == RunPlace.EMULATOR) {
            return new EmulatorJobs(boards.find(offer.board()), job, image).run();
        }
        Path own = folder(offer);
        BoardJobs jobs =
                new BoardJobs(boards.find(offer.board()), offer.probe().orElseThrow(), openOcd, own, job, image);
        Done first = jobs.run();
        boolean isCycled = power.isPresent() && isDead(first.answer());
        Done done = isCycled ? again(job, offer, jobs, first) : first;
        String digest = Digests.sha256(job.image().toArray());
        String failure =
                problems(done.answer()).stream().map(Problem::what).findFirst().orElse("");
        HISTORIES.change(
                own,
                offer,
                history -> history.with(HISTORIES.now(), digest, failure, jobs.flashes(), isCycled ? 1 : 0));
        return done;
    }

    /** Cycles the power once, and tries the job once more. The result says so, whatever comes of it. */
    private Done again(FarmJob job, Offer offer, BoardJobs jobs, Done first) {
        String what = power.orElseThrow().cycle(offer);
        events.happened(FarmEvent.of(Kind.POWER_CYCLED)
                .with("job", job.id())
                .with("board", offer.board())
                .with("probe", offer.probe().orElse(""))
                .with("reason", problems(first.answer()).get(0).what())
                .with("result", what));
        Done second = jobs.run();
        FarmAnswer answer = second.answer();
        if (answer instanceof Failed failed) {
            answer = new Failed(noted(failed.problems(), what));
        } else if (answer instanceof Ran ran && !ran.failure().isEmpty()) {
            answer = new Ran(ran.models(), ran.runs(), noted(ran.failure(), what), ran.stack());
        }
        return new Done(
                second.ranOn() + ", " + what,
                answer,
                joined(List.of(first.console(), Bytes.ofText("\n[" + what + "]\n"), second.console())));
    }

    private static Bytes joined(List<Bytes> parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        parts.forEach(part -> all.writeBytes(part.toArray()));
        return Bytes.wrap(all.toByteArray());
    }

    private static List<Problem> noted(List<Problem> problems, String what) {
        List<Problem> noted = new ArrayList<>(problems);
        Problem one = noted.get(0);
        noted.set(0, new Problem(one.family(), one.what() + "; " + what, one.where(), one.expected(), one.next()));
        return noted;
    }

    private static List<Problem> problems(FarmAnswer answer) {
        return answer instanceof Failed failed
                ? failed.problems()
                : answer instanceof Ran ran ? ran.failure() : List.of();
    }

    /** Whether a board could not be flashed, or did not say a word that was asked for. */
    private static boolean isDead(FarmAnswer answer) {
        boolean hasSpoken = answer instanceof Ran ran && !ran.models().isEmpty();
        return !hasSpoken
                && problems(answer).stream()
                        .findFirst()
                        .filter(problem -> OF_BOARDS.contains(problem.family()))
                        .isPresent();
    }

    private Path folder(Offer offer) {
        String name = offer.board() + " " + offer.probe().orElse("");
        return folder.resolve(
                Digests.sha256(name.getBytes(StandardCharsets.UTF_8)).substring(0, DIGITS));
    }

    @Override
    public Optional<BoardHistory> history(Offer offer) {
        return offer.probe().map(probe -> HISTORIES.read(folder(offer), offer));
    }
}
