// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import io.kiln.artifact.ModelMetadata;
import java.util.List;

/**
 * A model of an image, in {@code report.json}.
 *
 * @param name its name in C
 * @param operators how many of the report's operators are its own; they follow those of the models before it
 * @param buffers likewise of the plan's buffers
 */
public record ModelPart(String name, int operators, int buffers) {
    /** The parts of a report of these models, in order. */
    public static List<ModelPart> of(List<ModelMetadata> models) {
        return models.stream()
                .map(model -> new ModelPart(
                        model.name(),
                        model.operators().size(),
                        model.plan().buffers().size()))
                .toList();
    }
}
