// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.ModelLibrary;
import io.kiln.codegen.CodeUnit;
import io.kiln.executor.PlannedModule;
import io.kiln.ir.Function;
import io.kiln.transform.Stage;
import java.util.List;

/**
 * A compiled model.
 *
 * @param library C sources and what is known of them
 * @param imported the model as it was imported, before any pass: what the reference interpreter runs
 * @param stages the model as it was imported and after each pass
 * @param module the model as loops, planned
 * @param code all functions as loops, in the order of the C
 */
public record CompiledModel(
        ModelLibrary library, Function imported, List<Stage> stages, PlannedModule module, CodeUnit code) {
    public CompiledModel {
        stages = List.copyOf(stages);
    }
}
