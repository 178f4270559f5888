// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import io.kiln.base.Log;
import io.kiln.farm.desk.FarmEvents;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.lease.BoardLeases;
import io.kiln.farm.watch.RotatingLog;
import io.kiln.farm.worker.Offer;
import io.kiln.farm.worker.Worker;
import io.kiln.farm.worker.WorkerSetup;
import io.kiln.flow.spec.WorkerSpec;
import io.kiln.toolchain.board.Boards;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.stream.Collectors;

/** Offers this computer to a farm. */
public final class WorkerStep {
    private final Log log;
    private final Boards boards;
    private final WorkerSpec spec;

    public WorkerStep(Log log, Boards boards, WorkerSpec spec) {
        this.log = log;
        this.boards = boards;
        this.spec = spec;
    }

    /**
     * Starts a worker.
     *
     * @return to be closed by the caller
     * @throws io.kiln.base.KilnException if it has nothing to offer, or the broker cannot be reached or refuses it
     */
    public Worker start() {
        return start(log);
    }

    private Worker start(Log told) {
        List<Offer> offers = new WorkerOffers(log, boards).of(spec);
        BoardLeases leases = new BoardLeases(spec.home().resolve("leases"), Clock.systemUTC(), BoardLeases.USUAL_TERM);
        WorkerSetup setup = new WorkerSetup(spec.address(), spec.identity(), offers, spec.slots(), leases);
        WorkerJobs jobs = new WorkerJobs(
                boards,
                spec.openOcd(),
                spec.home().resolve("worker"),
                spec.care().power().map(PowerSwitch::of),
                FarmEvents.to(told));
        Worker worker = Worker.start(setup, jobs, told);
        log.info("Worker " + spec.identity().name() + " takes jobs of "
                + spec.address().url());
        say(offers, RunPlace.EMULATOR, spec.slots() + " at once in emulators of ");
        say(offers, RunPlace.BOARD, "On boards: ");
        return worker;
    }

    private void say(List<Offer> offers, RunPlace place, String what) {
        String names = offers.stream()
                .filter(offer -> offer.place() == place)
                .map(offer -> offer.board()
                        + offer.probe().map(probe -> " (probe " + probe + ")").orElse(""))
                .collect(Collectors.joining(", "));
        if (!names.isEmpty()) {
            log.info(what + names);
        }
    }

    /** Works until this process is ended; what happens is kept in files, too. */
    public void run() {
        Path logs = spec.home().resolve("log");
        try (RotatingLog kept =
                RotatingLog.open(log, logs, "worker-" + spec.identity().name())) {
            Worker worker = start(kept);
            log.info("Logs in " + logs + "; Ctrl-C ends it");
            try {
                worker.untilEnd(spec.care().drain());
            } catch (InterruptedException e) {
                worker.close();
                Thread.currentThread().interrupt();
            }
        }
    }
}
