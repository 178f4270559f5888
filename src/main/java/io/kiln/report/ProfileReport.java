// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.util.List;

/**
 * Content of {@code profile.json}: instruction counts of one inference in an emulator, or its time on a board.
 *
 * @param board the board that the image was built for
 * @param ranOn the machine that ran it
 * @param deterministic whether another run gives the same counts
 * @param instructions from the call of {@code tvmgen_<name>_run} to its return, all models added; null if they were not counted
 * @param operators instructions of each operator, in execution order
 * @param times what a board measured for each model; empty for an emulator
 */
public record ProfileReport(
        String board,
        String ranOn,
        boolean deterministic,

        @JsonInclude(JsonInclude.Include.NON_NULL) @JsonSetter(nulls = Nulls.SET)
        Long instructions,

        List<Operator> operators,

        @JsonInclude(JsonInclude.Include.NON_EMPTY) @JsonSetter(nulls = Nulls.SET)
        List<Time> times) {
    public ProfileReport {
        operators = List.copyOf(operators);
        times = times == null ? List.of() : List.copyOf(times);
    }

    /** Instructions that an emulator counted. */
    public ProfileReport(
            String board, String ranOn, boolean deterministic, long instructions, List<Operator> operators) {
        this(board, ranOn, deterministic, instructions, operators, List.of());
    }

    /**
     * Times that a board measured.
     *
     * @param deterministic whether the board's time is virtual
     */
    public static ProfileReport measured(String board, String ranOn, boolean deterministic, List<Time> times) {
        return new ProfileReport(board, ranOn, deterministic, null, List.of(), times);
    }

    /**
     * The time of one whole run of a model.
     *
     * @param model its name
     * @param microseconds by the board's timer
     * @param cycles of the core; null if its timer counts something else
     */
    public record Time(
            String model,
            double microseconds,

            @JsonInclude(JsonInclude.Include.NON_NULL) @JsonSetter(nulls = Nulls.SET)
            Long cycles) {}

    /**
     * One operator.
     *
     * @param name its C function, as in {@code report.json}
     * @param layers the model's own operators fused into it, as in {@code report.json}
     * @param instructions from its call to its return
     */
    public record Operator(
            String name,

            @JsonInclude(JsonInclude.Include.NON_EMPTY) @JsonSetter(nulls = Nulls.SET)
            List<String> layers,

            long instructions) {
        public Operator {
            layers = layers == null ? List.of() : List.copyOf(layers);
        }
    }
}
