// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import io.kiln.base.KilnException;
import io.kiln.farm.state.BoardHistory;
import io.kiln.farm.worker.Offer;
import io.kiln.report.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.function.UnaryOperator;

/**
 * Histories of boards, a file each, which outlive the worker.
 *
 * @param clock of this computer
 */
record BoardHistories(Clock clock) {
    private static final String FILE = "history.json";

    String now() {
        return clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** The history of a board in its folder; a damaged one begins anew. */
    BoardHistory read(Path folder, Offer offer) {
        Path file = folder.resolve(FILE);
        try {
            if (Files.isRegularFile(file)) {
                return Json.read(file, BoardHistory.class);
            }
        } catch (KilnException e) {
            // Of an earlier version, or cut short by a full disk: what the board does from now on matters more.
        }
        return BoardHistory.begin(offer.board(), offer.probe().orElse(""), now());
    }

    /** Adds to a history. A disk on which it cannot be written costs the job nothing. */
    void change(Path folder, Offer offer, UnaryOperator<BoardHistory> change) {
        try {
            Json.write(folder.resolve(FILE), change.apply(read(folder, offer)));
        } catch (KilnException e) {
            return;
        }
    }
}
