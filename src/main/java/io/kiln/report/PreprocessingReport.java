// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import io.kiln.report.Json.OrNull;


/**
 * What the signal processing before a model takes, in {@code report.json}. All sizes are in bytes.
 *
 * @param model its name in C
 * @param rows rows of features that are one input of the model
 * @param features of a row
 * @param codeBytes of its object file, before the linker drops functions that nothing calls; null for this computer
 * @param tableBytes its constant tables in flash
 * @param stateBytes its state in RAM, which the program owns
 * @param rowInstructions of one row; null if they were not counted
 * @param instructions of all rows of one input; null if they were not counted
 */
public record PreprocessingReport(
        String model,
        int rows,
        int features,

        @OrNull Long codeBytes,

        long tableBytes,
        long stateBytes,

        @OrNull Long rowInstructions,

        @OrNull Long instructions) {
    /** A copy with the instructions that a profile counted. */
    PreprocessingReport profiled(ProfileReport profile) {
        return profile.preprocessing().stream()
                .filter(counted -> counted.model().equals(model))
                .findFirst()
                .map(counted -> new PreprocessingReport(
                        model,
                        rows,
                        features,
                        codeBytes,
                        tableBytes,
                        stateBytes,
                        counted.rowInstructions(),
                        counted.instructions()))
                .orElse(this);
    }
}
