// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.frontend.CustomOperator;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.quantize.plan.Plan;
import io.kiln.quantize.plan.QuantizedNetwork;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Makes integer functions by writing the plan as a TensorFlow Lite model and reading that. A network that Kiln
 * quantizes thus has the same arithmetic as one that TensorFlow Lite quantized, and compiles to the same code.
 *
 * @param fileName name of the model file in the origins of operators
 */
public record TfliteMaker(String fileName) implements QuantizedNetwork.Maker {
    @Override
    public QuantizedNetwork make(Plan plan) {
        PlanWriter.Written written = new PlanWriter(plan).write();
        List<CustomOperator> operators = written.custom().keySet().stream()
                .map(name -> new CustomOperator(name, "node_" + name.substring(PlanWriter.CUSTOM.length()), "", ""))
                .toList();
        Function read = TfliteFrontend.read(
                written.file(),
                fileName,
                plan.function().name(),
                InputShapes.NONE,
                CustomOperators.of(operators),
                TfliteRounding.MICRO);
        Map<String, Integer> places = places(read);
        Function dense = LibraryArithmetic.in(DenseFromConv.in(read, written.dense()));
        Function whole = Splice.into(dense, plan.function(), written.custom());
        Map<Integer, Integer> idsInOrder = ids(whole);
        Map<Integer, Integer> values = new HashMap<>();
        written.names()
                .forEach((value, tensor) ->
                        Optional.ofNullable(places.get(tensor)).ifPresent(id -> values.put(value, idsInOrder.get(id))));
        List<String> missing = written.custom().values().stream()
                .map(node -> node.node().op().name())
                .sorted()
                .distinct()
                .toList();
        return new QuantizedNetwork(
                plan,
                whole.withIdsInOrder(),
                values,
                missing.isEmpty() ? Optional.of(written.file()) : Optional.empty(),
                missing);
    }

    /** The id of the value of each tensor. */
    private static Map<String, Integer> places(Function read) {
        Map<String, Integer> places = new HashMap<>();
        for (Binding binding : read.bindings()) {
            places.put(binding.origin().tensor(), binding.id());
        }
        return places;
    }

    private static Map<Integer, Integer> ids(Function function) {
        Function inOrder = function.withIdsInOrder();
        Map<Integer, Integer> ids = new HashMap<>();
        for (int i = 0; i < function.bindings().size(); i++) {
            ids.put(function.bindings().get(i).id(), inOrder.bindings().get(i).id());
        }
        return ids;
    }
}
