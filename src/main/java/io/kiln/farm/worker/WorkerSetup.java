// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.worker;

import io.kiln.base.Bytes;
import io.kiln.base.ParameterValue;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.RunPlace;
import io.kiln.farm.lease.BoardLeases;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.state.BoardHistory;
import io.kiln.farm.worker.WorkerSetup.Offer;
import java.util.List;
import java.util.Optional;

/**
 * The settings of a worker.
 *
 * @param address the farm
 * @param identity who it is
 * @param offers what it offers
 * @param slots how many emulators run at once, 1 or more
 * @param leases of this computer's boards
 */
public record WorkerSetup(FarmAddress address, Identity identity, List<Offer> offers, int slots, BoardLeases leases) {
    public WorkerSetup {
        offers = List.copyOf(offers);
    }

    /**
     * Who a worker is.
     *
     * @param name unique in the farm
     * @param version of its Kiln
     * @param labels by which jobs choose it
     */
    public record Identity(String name, String version, Labels labels) {
        /** The name as the broker knows it. */
        public Identity {
            name = FarmMember.plain(name);
        }

        /** A part of the worker as the broker knows it. */
        FarmMember member(String slot) {
            return new FarmMember(version, name, slot);
        }
    }

    String name() {
        return identity.name();
    }

    /**
     * An offer of a worker: an emulator or a board that runs images.
     *
     * @param board the board's id
     * @param core such as {@code cortex-m4}
     * @param place an emulator, or the board itself
     * @param probe serial number of the board's probe, or its name; empty for an emulator
     * @param labels of the board itself, which count before those of its worker
     */
    public record Offer(String board, String core, RunPlace place, Optional<String> probe, Labels labels) {
        /** Checks the board's id, which goes into selectors. */
        public Offer {
            if (!FarmJob.isBoard(board)) {
                throw new IllegalArgumentException("not a board's id: " + board);
            }
        }

        public static Offer emulator(String board, String core) {
            return new Offer(board, core, RunPlace.EMULATOR, Optional.empty(), Labels.NONE);
        }

        /** An offer of a board with its probe. */
        public static Offer board(String board, String core, String probe) {
            return board(board, core, probe, Labels.NONE);
        }

        /** An offer of a board with its probe and labels. */
        public static Offer board(String board, String core, String probe, Labels labels) {
            return new Offer(board, core, RunPlace.BOARD, Optional.of(probe), labels);
        }

        /** The place as messages have it. */
        public String placeText() {
            return ParameterValue.text(place);
        }

        /** Whether it runs a job. */
        boolean fits(FarmJob job) {
            return job.board().equals(board) && job.place() == place;
        }
    }

    /** Runs jobs on what a worker offers. Thread-safe. */
    @FunctionalInterface
    public interface JobRunner {
        /**
         * The outcome of a job.
         *
         * @param ranOn what ran the image, as reports name it
         * @param answer the answer
         * @param console what a board printed; empty for an emulator
         */
        record Done(String ranOn, FarmAnswer answer, Bytes console) {
            /** An outcome without a console. */
            public Done(String ranOn, FarmAnswer answer) {
                this(ranOn, answer, Bytes.wrap(new byte[0]));
            }
        }

        /**
         * Runs a job.
         *
         * @param offer what runs it, which nobody else uses meanwhile if it is a board
         * @throws io.kiln.base.KilnException if it fails, with the reason
         */
        Done run(FarmJob job, Offer offer);

        /** What an offered board has been through; empty for an emulator. */
        default Optional<BoardHistory> history(Offer offer) {
            return Optional.empty();
        }
    }
}
