// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problems;
import io.kiln.farm.desk.FarmEvent.FarmEvents;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.lease.BoardLeases;
import io.kiln.farm.watch.RotatingLog;
import io.kiln.farm.worker.Worker;
import io.kiln.farm.worker.WorkerSetup;
import io.kiln.farm.worker.WorkerSetup.Offer;
import io.kiln.flow.spec.WorkerSpec;
import io.kiln.flow.spec.WorkerSpec.Device;
import io.kiln.flow.worker.WorkerJobs.PowerSwitch;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
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
                spec.care().openOcd(),
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

    /** Finds out what a computer can offer to a farm. */
    private static final class WorkerOffers {
        private final Log log;
        private final Boards boards;
        private final Problems problems = new Problems(Failure.FARM);
        private final List<Offer> offers = new ArrayList<>();

        WorkerOffers(Log log, Boards boards) {
            this.log = log;
            this.boards = boards;
        }

        /**
         * The offers.
         *
         * @throws KilnException with all that is asked for and cannot be offered
         */
        List<Offer> of(WorkerSpec spec) {
            if (spec.slots() > 0) {
                if (spec.emulators().isEmpty()) {
                    boards.ids().forEach(this::emulateIfPossible);
                }
                spec.emulators().forEach(this::emulate);
            }
            spec.devices().forEach(this::device);
            problems.throwIfAny();
            if (offers.isEmpty()) {
                problems.add(
                        "this worker has nothing to offer",
                        "kiln:worker",
                        "an emulator, or a board in kiln.worker.boards",
                        "kiln:doctor says what is missing");
                problems.throwIfAny();
            }
            return List.copyOf(offers);
        }

        /** Offers emulation of a board, unless it is broken: a broken board of the project does not keep the others from being offered. */
        private void emulateIfPossible(String id) {
            try {
                Board board = boards.find(id);
                if (board.emulation() instanceof Emulation.Qemu qemu
                        && Executables.find(qemu.program()).isPresent()) {
                    offers.add(Offer.emulator(id, core(board)));
                }
            } catch (KilnException e) {
                log.warn("Not offered: " + e.getMessage());
            }
        }

        private void emulate(String id) {
            Board board = boards.find(id);
            if (!(board.emulation() instanceof Emulation.Qemu qemu)) {
                problems.add(
                        "the board " + id + " has no emulator of its own: its images run on another board or nowhere",
                        "kiln.worker.emulators",
                        "boards that QEMU emulates",
                        "kiln:boards shows what runs where");
            } else if (Executables.find(qemu.program()).isEmpty()) {
                problems.add(
                        qemu.program() + " is not installed",
                        "kiln.worker.emulators",
                        "",
                        "kiln:doctor says how to install it");
            } else {
                offers.add(Offer.emulator(id, core(board)));
            }
        }

        private void device(Device device) {
            Board board = boards.find(device.board());
            if (board.openOcd().isEmpty()) {
                problems.add(
                        "the board " + board.id() + " is not flashed by OpenOCD",
                        "kiln.worker.boards",
                        "flash.openocd in " + board.origin());
                return;
            }
            boolean isVirtual = board.openOcd().orElseThrow().isVirtual();
            Labels labels = device.labels().values().containsKey(Labels.SILICON)
                    ? device.labels()
                    : device.labels().with(Labels.SILICON, isVirtual ? "virtual" : "real");
            offers.add(Offer.board(board.id(), core(board), device.probe(), labels));
        }

        private static String core(Board board) {
            return board.targetOption("mcpu").orElse("");
        }
    }
}
