// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import io.kiln.report.Json.OrNull;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.RamCopies;
import io.kiln.report.NpuReport.VelaRun;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A model of an image, in {@code report.json}.
 *
 * @param name its name in C
 * @param operators how many of the report's operators are its own; they follow those of the models before it
 * @param buffers likewise of the plan's buffers
 * @param ramCopies what of it is copied to RAM when the program starts; null if nothing is, and nothing would be gained
 * @param npu its work and memory on an NPU; null if no part of it is an NPU's
 */
public record ModelPart(
        String name,
        int operators,
        int buffers,

        @OrNull RamCopies ramCopies,

        @OrNull NpuReport npu) {
    /** The parts of a report of these models, in order. */
    public static List<ModelPart> of(List<ModelMetadata> models) {
        return of(models, Map.of());
    }

    /**
     * The parts of a report of these models, in order.
     *
     * @param runs how Vela made models in this build, by their names
     */
    public static List<ModelPart> of(List<ModelMetadata> models, Map<String, VelaRun> runs) {
        return models.stream()
                .map(model -> new ModelPart(
                        model.name(),
                        model.operators().size(),
                        model.plan().buffers().size(),
                        model.memory().copies().equals(RamCopies.NONE)
                                ? null
                                : model.memory().copies(),
                        NpuReport.of(model, Optional.ofNullable(runs.get(model.name())))
                                .orElse(null)))
                .toList();
    }
}
