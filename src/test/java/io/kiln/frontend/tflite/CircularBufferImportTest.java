// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tensorflow.lite.schema.TensorType;

/** CIRCULAR_BUFFER: what TensorFlow Lite Micro's own test expects, and what is refused. */
class CircularBufferImportTest {
    private static final TensorSpec VALID = TensorSpec.of("valid", TensorType.BOOL, 1);

    private static TfliteModelBuilder model(Map<String, Object> options, TensorSpec data, TensorSpec... outputs) {
        TfliteModelBuilder model = new TfliteModelBuilder();
        int x = model.tensor(data);
        int[] out = Arrays.stream(outputs).mapToInt(model::tensor).toArray();
        Bytes custom = options.isEmpty() ? Bytes.wrap(new byte[0]) : FlexOptions.of(options);
        return model.custom("CIRCULAR_BUFFER", custom, new int[] {x}, out)
                .inputs(x)
                .outputs(out);
    }

    private static TensorSpec slots(int zeroPoint, int... shape) {
        return TensorSpec.int8("slots", 1, zeroPoint, shape);
    }

    /** The data count on from run to run. */
    private static List<Bytes> run(Function function, Interpreter.State state, int run, int depth) {
        byte[] data = new byte[depth];
        for (int i = 0; i < depth; i++) {
            data[i] = (byte) (run * depth + i + 1);
        }
        return Interpreter.run(function, List.of(Bytes.wrap(data)), state);
    }

    @Test
    void slotsMoveOnInEveryRun() {
        Function function = model(Map.of("cycles_max", 1), slots(0, 1, 1, 1, 3), slots(0, 1, 4, 1, 3))
                .read();
        Interpreter.State state = Interpreter.State.initial(function);
        byte[][] expected = {
            {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3},
            {0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6},
            {0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
            {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
            {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
        };
        for (int run = 0; run < expected.length; run++) {
            assertThat(run(function, state, run, 3)).containsExactly(Bytes.wrap(expected[run]));
        }
    }

    /** A period that is not stated has one run for 5 slots, else two. */
    @Test
    void theSecondOutputTellsWhetherAPeriodIsOver() {
        assertPeriod(1, Map.of(), 5);
        assertPeriod(2, Map.of(), 4);
        assertPeriod(2, Map.of("cycles_max", 0), 4);
        assertPeriod(3, Map.of("cycles_max", 3), 5);
    }

    private static void assertPeriod(int expected, Map<String, Object> options, int slots) {
        TensorSpec kept = slots(0, 1, slots, 1, 2).asVariable();
        Function function = model(options, slots(0, 1, 1, 1, 2), kept, VALID).read();
        Interpreter.State state = Interpreter.State.initial(function);
        for (int run = 1; run < 10; run++) {
            List<Bytes> results = run(function, state, run, 2);
            assertThat(results.get(1).get(0)).as("run %d", run).isEqualTo((byte) (run % expected == 0 ? 1 : 0));
            assertThat(results.get(0).get(2 * slots - 1)).isEqualTo((byte) (2 * run + 2));
        }
    }

    @Test
    void slotsBeginWithTheZeroPoint() {
        Function function = model(Map.of("cycles_max", 1), slots(-7, 1, 1, 1, 1), slots(-7, 1, 3, 1, 1))
                .read();
        assertThat(run(function, Interpreter.State.initial(function), 0, 1))
                .containsExactly(Bytes.wrap(new byte[] {-7, -7, 1}));
    }

    private static void assertRefused(TfliteModelBuilder model, String text) {
        KilnException e = catchThrowableOfType(KilnException.class, model::read);
        assertThat(e).hasMessageContainingAll("operator #0 CUSTOM CIRCULAR_BUFFER", text);
    }

    @Test
    void aRunThatEndsBeforeItsEndIsRefused() {
        TensorSpec one = slots(0, 1, 1, 1, 2);
        assertRefused(
                model(Map.of("cycles_max", 4), one, slots(0, 1, 5, 1, 2)),
                "it ends the run before its period of 4 runs is over; expected cycles_max of 1, or a second output");
        assertRefused(model(Map.of(), one, slots(0, 1, 4, 1, 2)), "its period of 2 runs");
        assertRefused(model(Map.of(), slots(0, 1, 1, 2, 96), slots(0, 1, 4, 2, 96), VALID), "its period is not stated");
    }

    @Test
    void tensorsThatDoNotFitAreRefused() {
        Map<String, Object> each = Map.of("cycles_max", 1);
        TensorSpec one = slots(0, 1, 1, 1, 2);
        assertRefused(model(each, one, slots(0, 1, 4, 1, 3)), "data (1, 1, 1, 2) are not a slot of (1, 4, 1, 3)");
        assertRefused(model(each, slots(0, 1, 2, 1, 2), slots(0, 1, 4, 1, 2)), "must be of batch 1");
        assertRefused(model(each, one, slots(0, 4, 2)), "does not have four dimensions");
        assertRefused(model(each, one, slots(0, 1, 4, 1, 2), slots(0, 1)), "its second output is `slots` int8");
        assertRefused(model(each, one, slots(0, 1, 4, 1, 2), VALID, VALID), "it has 1 inputs and 3 outputs");
        assertRefused(
                model(each, TensorSpec.float32("x", 1, 1, 1, 2), TensorSpec.float32("y", 1, 4, 1, 2)),
                "element type float32 of `x` is not supported here");
    }
}
