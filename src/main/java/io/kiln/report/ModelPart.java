// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.RamCopies;
import java.util.List;

/**
 * A model of an image, in {@code report.json}.
 *
 * @param name its name in C
 * @param operators how many of the report's operators are its own; they follow those of the models before it
 * @param buffers likewise of the plan's buffers
 * @param ramCopies what of it is copied to RAM when the program starts; null if nothing is, and nothing would be gained
 */
public record ModelPart(
        String name,
        int operators,
        int buffers,

        @JsonInclude(JsonInclude.Include.NON_NULL) @JsonSetter(nulls = Nulls.SET)
        RamCopies ramCopies) {
    /** A model of which nothing is copied. */
    public ModelPart(String name, int operators, int buffers) {
        this(name, operators, buffers, null);
    }

    /** The parts of a report of these models, in order. */
    public static List<ModelPart> of(List<ModelMetadata> models) {
        return models.stream()
                .map(model -> new ModelPart(
                        model.name(),
                        model.operators().size(),
                        model.plan().buffers().size(),
                        model.memory().copies().equals(RamCopies.NONE)
                                ? null
                                : model.memory().copies()))
                .toList();
    }
}
