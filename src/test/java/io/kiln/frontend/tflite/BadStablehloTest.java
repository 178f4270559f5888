// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions.OptionsType;
import io.kiln.frontend.tflite.schema.StablehloOptions;
import java.util.Collections;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tensorflow.lite.schema.TensorType;

/** Windows, indices and subgraphs of StableHLO's operators that do not fit. */
class BadStablehloTest {
    private static final long HUGE = 1L << 40;

    private final TfliteModelBuilder model = new TfliteModelBuilder();

    static Stream<Arguments> gathers() {
        return Stream.of(
                Arguments.of(1L, new long[] {0}, new long[] {0}, new long[] {1, 3}, "result of the dimensions"),
                Arguments.of(9L, new long[] {0}, new long[] {0}, new long[] {1, 4}, "along dimension 9"),
                Arguments.of(HUGE, new long[] {0}, new long[] {0}, new long[] {1, 4}, "along dimension " + HUGE),
                Arguments.of(1L, new long[] {0, 0}, new long[] {0}, new long[] {1, 4}, "each once"),
                Arguments.of(1L, new long[] {-1}, new long[] {0}, new long[] {1, 4}, "numbers from 0 to 1"),
                Arguments.of(1L, new long[] {0}, new long[] {0, 1}, new long[] {1, 4}, "1 components for 2 dimensions"),
                Arguments.of(1L, new long[] {0}, new long[] {0}, new long[] {2, 4}, "1 where it is collapsed"),
                Arguments.of(1L, new long[] {0}, new long[] {0}, new long[] {1, 0}, "a size within each dimension"),
                Arguments.of(1L, new long[] {0}, new long[] {0}, new long[] {1, HUGE}, "numbers from 0 to 5"),
                Arguments.of(1L, new long[] {0}, new long[] {0}, new long[9], "at most 8"));
    }

    @ParameterizedTest
    @MethodSource("gathers")
    void windowsFitTheData(long vector, long[] collapsed, long[] map, long[] sizes, String expected) {
        int x = model.tensor(TensorSpec.float32("x", 5, 4));
        int indices = model.tensor(TensorSpec.of("indices", TensorType.INT32, 2, 1));
        int y = model.tensor(TensorSpec.float32("y", 2, 4));
        Options options = table(
                StablehloOptions.StablehloGather.TYPE,
                Field.longs(0, 1),
                Field.longs(1, collapsed),
                Field.longs(2, map),
                Field.int64(3, vector),
                Field.longs(4, sizes));
        model.operator(BuiltinOperator.STABLEHLO_GATHER.code(), 1, options, new int[] {x, indices}, y)
                .inputs(x, indices)
                .outputs(y);
        problem(expected);
    }

    static Stream<Arguments> windows() {
        return Stream.of(
                Arguments.of(new long[] {2, 1}, new long[] {0, 0}, "one for each of 1 dimensions"),
                Arguments.of(new long[] {0}, new long[] {0, 0}, "not all from 1"),
                Arguments.of(new long[] {HUGE}, new long[] {0, 0}, "not all from 1"),
                Arguments.of(new long[] {2000}, new long[] {1999, 0}, "more than 1024 elements"),
                Arguments.of(new long[] {2}, new long[] {0}, "it has 1 paddings"),
                Arguments.of(new long[] {2}, new long[] {HUGE, 0}, "a padding is " + HUGE),
                Arguments.of(new long[] {2}, new long[] {-8, 0}, "removes all elements"),
                Arguments.of(new long[] {9}, new long[] {0, 0}, "with elements"));
    }

    @ParameterizedTest
    @MethodSource("windows")
    void windowsAreSmall(long[] sizes, long[] padding, String expected) {
        reduce(BuiltinOperator.STABLEHLO_ADD.code(), sizes, padding);
        problem(expected);
    }

    @Test
    void subgraphsAreOneFunctionOfTwoElements() {
        reduce(BuiltinOperator.STABLEHLO_SHIFT_LEFT.code(), new long[] {2}, new long[] {1, 0});
        problem("not a function of two elements");
    }

    @Test
    void subgraphsOfOtherInputsAreNoFunctionOfTwoElements() {
        reduce(-1, new long[] {2}, new long[] {1, 0});
        problem("not a function of two elements");
    }

    private void reduce(int code, long[] sizes, long[] padding) {
        int x = model.tensor(TensorSpec.int32("x", new int[8]));
        int first = model.tensor(TensorSpec.int32("first", 0));
        int y = model.tensor(TensorSpec.of("y", TensorType.INT32, 8));
        int body = model.nextSubgraph();
        int a = model.tensor(TensorSpec.of("a", TensorType.INT32));
        int b = model.tensor(TensorSpec.of("b", TensorType.INT32));
        int result = a;
        if (code >= 0) {
            result = model.tensor(TensorSpec.of("c", TensorType.INT32));
            model.operator(code, 1, Options.none(), new int[] {a, b}, result);
        }
        model.inputs(a, b).outputs(result);
        model.backToMain();
        Options options = table(
                StablehloOptions.StablehloReduceWindow.TYPE,
                Field.longs(0, sizes),
                Field.longs(4, padding),
                Field.int32(5, body));
        model.operator(BuiltinOperator.STABLEHLO_REDUCE_WINDOW.code(), 1, options, new int[] {x, first}, y)
                .inputs(x)
                .outputs(y);
    }

    @Test
    void aCaseHasBranches() {
        choose();
        problem("it has 0 branches");
    }

    @Test
    void aBranchDoesNotChooseItself() {
        choose(0, 0, 0);
        problem("subgraph");
    }

    @Test
    void branchesExist() {
        choose(7, -1);
        problem("subgraph");
    }

    /** Each level would be computed three times by the one before. */
    @Test
    void branchesOfBranchesAreLimited() {
        int levels = 24;
        for (int level = 1; level <= levels; level++) {
            model.nextSubgraph();
            choose(Collections.nCopies(3, level + 1).stream().mapToInt(b -> b).toArray());
        }
        model.nextSubgraph();
        int last = model.tensor(TensorSpec.of("last", TensorType.INT32));
        model.inputs(last).outputs(last);
        model.backToMain();
        choose(1, 1, 1);
        problem("call each other");
    }

    private void choose(int... branches) {
        int index = model.tensor(TensorSpec.of("index", TensorType.INT32));
        int y = model.tensor(TensorSpec.of("y", TensorType.INT32));
        Options options = table(StablehloOptions.StablehloCase.TYPE, Field.ints(0, branches));
        model.operator(BuiltinOperator.STABLEHLO_CASE.code(), 1, options, new int[] {index, index}, y)
                .inputs(index)
                .outputs(y);
    }

    private static Options table(OptionsType type, Field... fields) {
        return Options.table((byte) type.code(), fields).later();
    }

    private void problem(String expected) {
        KilnException e = catchThrowableOfType(KilnException.class, model::read);
        assertThat(e).isNotNull();
        assertThat(e.getMessage()).contains(expected);
    }
}
