// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.worker;

import io.kiln.base.Bytes;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.state.BoardHistory;
import io.kiln.farm.worker.WorkerSetup.Offer;
import java.util.Optional;

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
