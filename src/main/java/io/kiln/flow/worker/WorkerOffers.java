// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problems;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.worker.Offer;
import io.kiln.flow.spec.WorkerSpec;
import io.kiln.flow.spec.WorkerSpec.Device;
import io.kiln.process.Executables;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import java.util.ArrayList;
import java.util.List;

/** Finds out what a computer can offer to a farm. */
final class WorkerOffers {
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
