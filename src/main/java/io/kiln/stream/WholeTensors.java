// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.op.Reshape;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.LoweredOperator;
import io.kiln.stream.StoredValue.Place;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Runs every operator once, over whole tensors, in the order of the function. */
public final class WholeTensors {
    private final Function function;
    private final Map<Integer, TensorType> types;
    private final Map<Integer, Integer> storage = new HashMap<>();
    private final List<Step> steps = new ArrayList<>();
    private final Map<Integer, Integer> firstStep = new HashMap<>();
    private final Map<Integer, Integer> lastStep = new HashMap<>();

    private WholeTensors(Function function) {
        this.function = function;
        this.types = function.types();
    }

    /**
     * Builds the program.
     *
     * @param operators the lowered groups in execution order, reshapes left out
     */
    public static Program order(Function function, List<LoweredOperator> operators) {
        return new WholeTensors(function).build(operators);
    }

    private Program build(List<LoweredOperator> operators) {
        function.params().forEach(p -> storage.put(p.id(), p.id()));
        for (Binding binding : function.bindings()) {
            int home = binding.op() instanceof Reshape ? storage.get(binding.ref(0)) : binding.id();
            storage.put(binding.id(), home);
        }
        for (LoweredOperator operator : operators) {
            int step = steps.size();
            operator.inputs().forEach(id -> lastStep.put(storage.get(id), step));
            firstStep.put(operator.output(), step);
            lastStep.putIfAbsent(operator.output(), step);
            steps.add(new Step.Run(operator));
        }
        List<StoredValue> values = new ArrayList<>();
        List<Integer> outputs = placeOutputs();
        for (int i = 0; i < function.params().size(); i++) {
            Parameter parameter = function.params().get(i);
            values.add(stored(parameter.id(), parameter.type(), Place.INPUT, i));
        }
        for (int i = 0; i < outputs.size(); i++) {
            TensorType type = types.get(function.results().get(i).id());
            values.add(stored(outputs.get(i), type, Place.OUTPUT, i));
        }
        for (LoweredOperator operator : operators) {
            if (!outputs.contains(operator.output())) {
                values.add(stored(operator.output(), types.get(operator.output()), Place.WORKSPACE, -1));
            }
        }
        return new Program(function, steps, values, storage);
    }

    private StoredValue stored(int id, TensorType type, Place place, int index) {
        int first = firstStep.getOrDefault(id, -1);
        return new StoredValue(id, type, place, index, first, Math.max(first, lastStep.getOrDefault(id, first)));
    }

    /** The stored value of each output; what is an input or stands for another output already is copied. */
    private List<Integer> placeOutputs() {
        List<Integer> outputs = new ArrayList<>();
        for (Result result : function.results()) {
            int home = storage.get(result.id());
            if (firstStep.containsKey(home) && !outputs.contains(home)) {
                outputs.add(home);
            } else {
                int copy = -1 - outputs.size();
                firstStep.put(copy, steps.size());
                lastStep.put(home, steps.size());
                steps.add(new Step.Copy(home, copy));
                outputs.add(copy);
            }
        }
        return outputs;
    }
}
