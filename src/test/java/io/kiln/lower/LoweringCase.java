// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.type.Shape;
import io.kiln.reference.Interpreter;
import io.kiln.tir.Buffer;
import io.kiln.tir.TirEvaluator;
import io.kiln.transform.Pipeline;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A seeded operator with inputs and what it must answer.
 *
 * @param function the model of one operator
 * @param op that operator, fused
 * @param inputs of the function
 * @param expected what the reference interpreter answers
 */
public record LoweringCase(Function function, FusedOperator op, List<Bytes> inputs, Bytes expected) {
    /** The case with a seed, run through the standard pipeline; it fuses to one operator. */
    public static LoweringCase of(long seed) {
        Function drawn = RandomOperators.mixed(seed);
        Function function = Pipeline.standard().run(seed % 5 == 4 ? RandomOperators.ofFourBits(drawn) : drawn);
        List<Bytes> inputs = new ArrayList<>();
        for (Parameter parameter : function.params()) {
            inputs.add(RandomOperators.input(parameter.type(), seed * 31 + inputs.size()));
        }
        Bytes expected = Interpreter.run(function, inputs).get(0);
        List<FusedOperator> operators = FusedOperator.all(function, "tvmgen_case");
        assertThat(operators).as("seed %d fuses to one operator", seed).hasSize(1);
        return new LoweringCase(function, operators.get(0), inputs, expected);
    }

    /** The shape of an input of the operator. */
    public Shape shape(int input) {
        return function.types().get(op.inputs().get(input)).shape();
    }

    /** What each buffer holds before the loops run: inputs, an output of zeros, garbage in scratch. */
    public Map<String, long[]> memory(LoweredOperator lowered) {
        Map<String, long[]> memory = new HashMap<>();
        List<Buffer> buffers = lowered.function().buffers();
        for (int i = 0; i < lowered.inputs().size(); i++) {
            int id = lowered.inputs().get(i);
            memory.put(
                    buffers.get(i).name(), TirEvaluator.elements(buffers.get(i).dtype(), inputs.get(id)));
        }
        memory.put("output", new long[(int) op.type().shape().elements()]);
        for (Buffer scratch : buffers.subList(lowered.inputs().size() + 1, buffers.size())) {
            long[] garbage = new long[(int) scratch.elements()];
            Arrays.fill(garbage, -77);
            memory.put(scratch.name(), garbage);
        }
        return memory;
    }
}
