// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.ModelLibrary;
import io.kiln.codegen.CodeUnit;
import io.kiln.executor.PlannedModule;
import io.kiln.ir.Function;
import io.kiln.quantize.Quantized;
import io.kiln.transform.Stage;
import io.kiln.stream.StreamPlanner.Planned;
import java.util.List;
import java.util.Optional;

/**
 * A compiled model.
 *
 * @param library C sources and metadata
 * @param imported the imported model before any pass, which the reference interpreter runs; if it was quantized, the result
 * @param stages the imported model, and the model after each pass
 * @param module the model as loops, planned
 * @param code all functions as loops, in the order of the C
 * @param quantized how the model was quantized; empty if it was not
 * @param program what was planned, so that it can be planned otherwise; empty if an executor drives the operators one by one
 * @param unfitRecords tuning records that were found for a layer but do not fit it, for people
 */
public record CompiledModel(
        ModelLibrary library,
        Function imported,
        List<Stage> stages,
        PlannedModule module,
        CodeUnit code,
        Optional<Quantized> quantized,
        Optional<Planned> program,
        List<String> unfitRecords) {
    public CompiledModel {
        stages = List.copyOf(stages);
        unfitRecords = List.copyOf(unfitRecords);
    }
}
