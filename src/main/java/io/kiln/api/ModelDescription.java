// SPDX-License-Identifier: Apache-2.0
package io.kiln.api;

import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.OperatorInfo;
import java.util.List;

/**
 * A compiled model, without its code.
 *
 * @param name as in {@code tvmgen_<name>_run}
 * @param target what its code is for
 * @param inputs in the model's order
 * @param outputs in the model's order
 * @param workspaceBytes RAM that a run takes
 * @param constantBytes weights and tables
 * @param operators C names of its operators, in the order of a run
 */
public record ModelDescription(
        String name,
        String target,
        List<TensorDescription> inputs,
        List<TensorDescription> outputs,
        long workspaceBytes,
        long constantBytes,
        List<String> operators) {
    /** Copies the lists. */
    public ModelDescription {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
        operators = List.copyOf(operators);
    }

    static ModelDescription of(ModelMetadata model) {
        return new ModelDescription(
                model.name(),
                model.target(),
                TensorDescription.of(model.inputs()),
                TensorDescription.of(model.outputs()),
                model.workspaceBytes(),
                model.constantBytes(),
                model.operators().stream().map(OperatorInfo::name).toList());
    }
}
