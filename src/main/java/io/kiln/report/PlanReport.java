// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The results of a test plan, a cell for each model on each board.
 *
 * @param title of the plan
 * @param cells in the order of the plan
 */
public record PlanReport(String title, List<Cell> cells) {
    public PlanReport {
        cells = List.copyOf(cells);
    }

    /** What became of a cell. */
    public enum Result {
        PASSED,
        FAILED,
        SKIPPED
    }

    /**
     * A model on a board.
     *
     * @param model its name
     * @param board the board for people, with its place, such as {@code nucleo-f446re (board)}
     * @param result what became of it
     * @param reason why it failed or was skipped; empty if it passed
     * @param run what it took; empty if nothing ran
     */
    public record Cell(String model, String board, Result result, String reason, Optional<Run> run) {
        /** A cell in which nothing ran. */
        public static Cell without(String model, String board, Result result, String reason) {
            return new Cell(model, board, result, reason, Optional.empty());
        }
    }

    /**
     * A build and its verification.
     *
     * @param ranOn what ran the image; empty if it was not run
     * @param time how long both took
     * @param digest SHA-256 of the image in hexadecimal digits; empty if there is none
     * @param log path of the log from the page's folder, with slashes
     * @param lines of the log
     */
    public record Run(String ranOn, Duration time, String digest, String log, List<String> lines) {
        public Run {
            lines = List.copyOf(lines);
        }
    }

    /** Names of the models, each once. */
    public List<String> models() {
        return cells.stream().map(Cell::model).distinct().toList();
    }

    /** Names of the boards, each once. */
    public List<String> boards() {
        return cells.stream().map(Cell::board).distinct().toList();
    }

    /** The cell of a model and a board, if the plan has it. */
    public Optional<Cell> cell(String model, String board) {
        return cells.stream()
                .filter(cell -> cell.model().equals(model) && cell.board().equals(board))
                .findFirst();
    }

    /** How many cells have a result. */
    public long count(Result result) {
        return cells.stream().filter(cell -> cell.result() == result).count();
    }
}
