// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.type.Shape;
import io.kiln.reference.Interpreter;
import io.kiln.schedule.Dispatch;
import io.kiln.target.Target;
import io.kiln.tir.Buffer;
import io.kiln.tir.TirEvaluator;
import io.kiln.tir.TirVerifier;
import io.kiln.transform.Pipeline;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LoweringPropertyTest {
    private static final int CASES = 1500;
    private static final Dispatch DISPATCH = new Dispatch(Target.parse("c -mcpu=cortex-m4"), Optimize.SPEED);

    private record Case(Function function, FusedOperator op, List<Bytes> inputs, Bytes expected) {
        static Case of(long seed) {
            Function function = Pipeline.standard().run(RandomOperators.next(seed));
            List<Bytes> inputs = new ArrayList<>();
            for (Parameter parameter : function.params()) {
                inputs.add(RandomOperators.input(parameter.type(), seed * 31 + inputs.size()));
            }
            Bytes expected = Interpreter.run(function, inputs).get(0);
            List<FusedOperator> operators = FusedOperator.all(function, "tvmgen_case");
            assertThat(operators).as("seed %d fuses to one operator", seed).hasSize(1);
            return new Case(function, operators.get(0), inputs, expected);
        }

        Map<String, long[]> memory(LoweredOperator lowered) {
            Map<String, long[]> memory = new HashMap<>();
            List<Buffer> buffers = lowered.function().buffers();
            for (int i = 0; i < lowered.inputs().size(); i++) {
                int id = lowered.inputs().get(i);
                memory.put(
                        buffers.get(i).name(),
                        TirEvaluator.elements(buffers.get(i).dtype(), inputs.get(id)));
            }
            memory.put("output", new long[(int) op.type().shape().elements()]);
            return memory;
        }
    }

    @Test
    void loopsComputeWhatTheInterpreterComputes() {
        for (long seed = 0; seed < CASES; seed++) {
            Case c = Case.of(seed);
            LoweredOperator lowered = DISPATCH.lower(c.op());
            TirVerifier.verify(lowered.function());
            Map<String, long[]> memory = c.memory(lowered);
            TirEvaluator.run(lowered.function(), memory, Map.of());
            DType dtype = c.op().type().dtype();
            Bytes actual = TirEvaluator.bytes(dtype, memory.get("output"));
            assertEqual(seed, c, dtype, actual);
        }
    }

    private static void assertEqual(long seed, Case c, DType dtype, Bytes actual) {
        String what = "seed " + seed + ", " + c.op().op();
        if (!dtype.isFloat()) {
            assertThat(actual).as(what).isEqualTo(c.expected());
            return;
        }
        for (int i = 0; i < actual.size(); i += 4) {
            float expected = c.expected().buffer().getFloat(i);
            assertThat(actual.buffer().getFloat(i))
                    .as(what)
                    .isCloseTo(expected, within(1e-5f + 1e-4f * Math.abs(expected)));
        }
    }

    @Test
    void aRangeOfRowsWritesJustTheseRowsAndReadsJustTheRowsItDeclares() {
        for (long seed = 0; seed < CASES; seed++) {
            Case c = Case.of(seed);
            LoweredOperator lowered = DISPATCH.lower(c.op(), Rows.named());
            int rows = Rows.count(c.op().type().shape());
            int begin = (int) (seed % rows);
            int end = begin + 1 + (int) (seed / 7 % (rows - begin));
            Map<String, long[]> memory = c.memory(lowered);
            long[] output = memory.get("output");
            Arrays.fill(output, 1000);
            TirEvaluator run = TirEvaluator.run(
                    lowered.function(), memory, Map.of("row_begin", (long) begin, "row_end", (long) end));
            int rowElements = output.length / rows;
            for (int i = 0; i < output.length; i++) {
                boolean inside = i / rowElements >= begin && i / rowElements < end;
                assertThat(output[i] != 1000).as("seed %d element %d", seed, i).isEqualTo(inside);
            }
            for (int i = 0; i < lowered.inputs().size(); i++) {
                assertReads(seed, c, lowered, run, i, begin, end);
            }
        }
    }

    private static void assertReads(
            long seed, Case c, LoweredOperator lowered, TirEvaluator run, int input, int begin, int end) {
        Shape shape = c.function().types().get(lowered.inputs().get(input)).shape();
        boolean[] read = run.read(lowered.function().buffers().get(input).name());
        int rowElements = read.length / Rows.count(shape);
        RowDependency declared = lowered.dependencies().get(input);
        for (int i = 0; i < read.length; i++) {
            int row = i / rowElements;
            boolean allowed = row >= declared.firstRow(begin, end) && row < declared.endRow(begin, end);
            assertThat(!read[i] || allowed)
                    .as("seed %d, %s reads row %d for rows %d to %d", seed, c.op().op(), row, begin, end)
                    .isTrue();
        }
    }
}
