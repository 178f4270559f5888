// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.stateful;

import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.schema.StablehloOptions.StableHLOComposite;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import java.util.ArrayList;
import java.util.List;

/**
 * STABLEHLO_COMPOSITE: an operator of the model's own making, with a subgraph that computes it. The subgraph's operators take its place, as
 * TensorFlow Lite's interpreter runs them.
 */
final class CompositeImporter implements OperatorImporter {
    private static final int MAX_NAME = 200;

    @Override
    public void emit(OperatorContext operator) {
        FlatTable options = operator.laterOptions(StableHLOComposite.TYPE);
        int subgraph = options.get(StableHLOComposite.DECOMPOSITION_SUBGRAPH_INDEX);
        operator.require(
                subgraph > 0,
                "the composite `" + options.get(StableHLOComposite.NAME, MAX_NAME) + "` has no decomposition",
                "a subgraph that computes it",
                "Export the model with decompositions, which the converter writes by default");
        operator.check();
        List<Arg> args = new ArrayList<>();
        for (int i = 0; i < operator.inputCount(); i++) {
            args.add(operator.value(operator.input(i)));
        }
        List<Arg> results = operator.inlined(subgraph, args);
        List<TfliteTensor> outputs = operator.outputs();
        operator.require(
                results.size() == outputs.size(),
                "its decomposition has " + results.size() + " outputs, and it has " + outputs.size(),
                "as many",
                "Export the model again");
        operator.check();
        for (int i = 0; i < results.size(); i++) {
            operator.finish(outputs.get(i), results.get(i));
        }
    }
}
