// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import io.kiln.cycles.core.CycleRange;
import io.kiln.report.CycleReport.BoardCycles;
import io.kiln.report.Json.OrEmpty;
import io.kiln.report.Json.OrNull;
import java.util.List;
import java.util.Locale;

/**
 * Content of {@code profile.json}: instruction counts of one inference in an emulator, or its time on a board.
 *
 * @param board the board that the image was built for
 * @param ranOn the machine that ran it
 * @param deterministic whether another run gives the same counts
 * @param instructions from the call of {@code tvmgen_<name>_run} to its return, all models added; null if they were not counted
 * @param operators instructions or times of each operator, in execution order
 * @param times what a board measured for each model; empty for an emulator
 * @param aot what the same models take with the AOT executor; null if these have it, or if nobody compared
 * @param estimate cycles and time of one inference on the core; null if they were not estimated
 * @param preprocessing instructions of the signal processing before models; empty if there is none, or if it was not counted
 * @param cycles estimated, with the waits of the board's memories; null if they were not estimated
 */
public record ProfileReport(
        String board,
        String ranOn,
        boolean deterministic,

        @OrNull Long instructions,

        List<Operator> operators,

        @OrEmpty List<Time> times,

        @OrNull Aot aot,

        @OrNull CycleReport estimate,

        @OrEmpty List<Preprocessing> preprocessing,

        @OrNull BoardCycles cycles) {
    public ProfileReport {
        operators = List.copyOf(operators);
        times = times == null ? List.of() : List.copyOf(times);
        preprocessing = preprocessing == null ? List.of() : List.copyOf(preprocessing);
    }

    /** A report of instructions that an emulator counted. */
    public ProfileReport(
            String board, String ranOn, boolean deterministic, long instructions, List<Operator> operators) {
        this(board, ranOn, deterministic, instructions, operators, List.of(), null, null, List.of(), null);
    }

    public ProfileReport with(CycleReport estimated) {
        BoardCycles waited =
                estimated.memory() == null ? null : estimated.memory().cycles();
        return new ProfileReport(
                board, ranOn, deterministic, instructions, operators, times, aot, estimated, preprocessing, waited);
    }

    /** A copy with the counts of an image that has the AOT executor, for comparison. */
    public ProfileReport beside(Aot other) {
        return new ProfileReport(
                board, ranOn, deterministic, instructions, operators, times, other, estimate, preprocessing, cycles);
    }

    public ProfileReport with(List<Preprocessing> counted) {
        return new ProfileReport(
                board, ranOn, deterministic, instructions, operators, times, aot, estimate, counted, cycles);
    }

    /**
     * The signal processing before a model.
     *
     * @param model its name
     * @param rowInstructions of one row of features, of silence
     * @param instructions of all rows of one input
     */
    public record Preprocessing(String model, long rowInstructions, long instructions) {}

    /**
     * An image with the AOT executor, for models that run as graphs.
     *
     * @param instructions of one inference, all models added
     * @param flash bytes of the image
     * @param ram bytes of the image, its stack included
     */
    public record Aot(long instructions, long flash, long ram) {}

    /**
     * A report of times that a board measured.
     *
     * @param deterministic whether the board's time is virtual
     * @param operators those of models that run operator by operator
     */
    public static ProfileReport measured(
            String board, String ranOn, boolean deterministic, List<Time> times, List<Operator> operators) {
        return new ProfileReport(board, ranOn, deterministic, null, operators, times, null, null, List.of(), null);
    }

    /**
     * The time of one run of a model.
     *
     * @param model its name
     * @param microseconds by the board's timer, of the whole run with the AOT executor, of all operators together with a
     *     graph
     * @param cycles of the core; null if its timer counts something else
     */
    public record Time(
            String model, double microseconds, @OrNull Long cycles) {}

    /**
     * One operator.
     *
     * @param name its C function, as in {@code report.json}
     * @param layers the model's own operators fused into it, as in {@code report.json}
     * @param instructions from its call to its return, in an emulator; null if they were not counted
     * @param microseconds mean of one call, by the board's timer; null if a board did not measure it
     * @param cycles of the core; null if the board's timer counts something else
     * @param estimatedCycles from the core's instruction timings, without wait states; null if they were not estimated
     * @param boardCycles with the waits of the board's memories; null if they were not estimated
     */
    public record Operator(
            String name,

            @OrEmpty List<String> layers,

            @OrNull Long instructions,

            @OrNull Double microseconds,

            @OrNull Long cycles,

            @OrNull CycleRange estimatedCycles,

            @OrNull BoardCycles boardCycles) {
        public Operator {
            layers = layers == null ? List.of() : List.copyOf(layers);
        }

        /** The counts of an operator in an emulator. */
        public Operator(String name, List<String> layers, long instructions) {
            this(name, layers, instructions, null, null, null, null);
        }

        public Operator with(CycleRange estimated) {
            return new Operator(name, layers, instructions, microseconds, cycles, estimated, boardCycles);
        }

        public Operator with(BoardCycles waited) {
            return new Operator(name, layers, instructions, microseconds, cycles, estimatedCycles, waited);
        }

        /** What is expected, with the waits of the board's memories if they are known. */
        private String about() {
            if (estimatedCycles == null) {
                return "";
            }
            long expected = boardCycles == null ? estimatedCycles.expected() : boardCycles.expected();
            return String.format(Locale.ROOT, ", about %,d cycles", expected);
        }

        /** The instructions or the time as text for the console. */
        public String text() {
            if (instructions != null) {
                return String.format(Locale.ROOT, "%,d instructions", instructions) + about();
            }
            String counted = cycles == null ? "" : String.format(Locale.ROOT, ", %,d cycles", cycles);
            return microseconds == null ? "" : String.format(Locale.ROOT, "%,.1f us", microseconds) + counted;
        }
    }
}
