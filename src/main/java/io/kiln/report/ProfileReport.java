// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.util.List;

/**
 * Content of {@code profile.json}: instruction counts of one inference.
 *
 * @param board the board that the image was built for
 * @param ranOn the machine that ran it
 * @param deterministic whether another run gives the same counts
 * @param instructions from the call of {@code tvmgen_<name>_run} to its return, all models added
 * @param operators instructions of each operator, in execution order
 */
public record ProfileReport(
        String board, String ranOn, boolean deterministic, long instructions, List<Operator> operators) {
    public ProfileReport {
        operators = List.copyOf(operators);
    }

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
