// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import java.nio.file.Path;
import java.util.List;

/**
 * An image of candidates, independent of what runs it.
 *
 * @param elf linked for the board that runs it; {@link MeasuringProgram} says what it does
 * @param functions the candidates' functions in the order of their calls
 */
public record CandidateImage(Path elf, List<String> functions) {
    public CandidateImage {
        functions = List.copyOf(functions);
    }
}
