// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.ModelLibrary;
import io.kiln.codegen.CodeUnit;
import io.kiln.executor.PlannedModule;
import io.kiln.frontend.ReadModel;
import io.kiln.ir.Function;
import io.kiln.quantize.Quantized;
import io.kiln.stream.PlanChoice;
import io.kiln.stream.StreamPlanner.Planned;
import io.kiln.transform.Pipeline.Stage;
import java.util.List;
import java.util.Optional;

/**
 * A compiled model.
 *
 * @param library C sources and metadata
 * @param read the imported model before any pass; if it was quantized, the result
 * @param stages the imported model, and the model after each pass
 * @param module the model as loops, planned
 * @param code all functions as loops, in the order of the C
 * @param quantized how the model was quantized; empty if it was not
 * @param choices how it was planned, and what of its tuning records is followed
 */
public record CompiledModel(
        ModelLibrary library,
        ReadModel read,
        List<Stage> stages,
        PlannedModule module,
        CodeUnit code,
        Optional<Quantized> quantized,
        Choices choices) {
    public CompiledModel {
        stages = List.copyOf(stages);
    }

    /**
     * The choices of the compiler.
     *
     * @param program what was planned, so that it can be planned otherwise; empty if an executor drives the operators one by one
     * @param recorded how a tuning record plans it; empty if the rules do
     * @param unfitRecords tuning records that were found for a layer or the model but do not fit it, for people
     */
    public record Choices(Optional<Planned> program, Optional<PlanChoice> recorded, List<String> unfitRecords) {
        public Choices {
            unfitRecords = List.copyOf(unfitRecords);
        }
    }

    /** The imported model before any pass, which the reference interpreter runs; if it was quantized, the result. */
    public Function imported() {
        return read.function();
    }

    /** What the model's file states wrongly about it, for people. */
    public List<String> warnings() {
        return read.warnings();
    }

    /** Tuning records that do not fit, for people. */
    public List<String> unfitRecords() {
        return choices.unfitRecords();
    }

    /** The planned program; empty if an executor drives the operators one by one. */
    public Optional<Planned> program() {
        return choices.program();
    }
}
