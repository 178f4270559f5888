// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.fuzz.ReaderProperty;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

class BadModelTest extends BadSums {
    @Test
    void everythingUnsupportedIsNamedAtOnce() {
        int x = model.tensor(value("x"));
        int y = model.tensor(value("y"));
        int z = model.tensor(value("z"));
        int out = model.tensor(value("out"));
        model.operator(BuiltinOperator.WHERE, 2, Options.none(), new int[] {x}, y)
                .custom("MyOp", new int[] {y}, z)
                .operator(BuiltinOperator.ADD, 99, Options.none(), new int[] {z, z}, out)
                .inputs(x)
                .outputs(out);
        KilnException e = catchThrowableOfType(KilnException.class, model::read);
        assertThat(e.problems()).hasSize(3);
        assertThat(e.getMessage())
                .contains("operator #0 WHERE (`x` int8 (1, 4) -> `y` int8 (1, 4))")
                .contains(
                        "WHERE version 2 is not supported: it has a result whose size is known only when the model runs")
                .contains("operator #1 CUSTOM MyOp")
                .contains("ADD version 99 is not supported")
                .contains("operators that the documentation lists");
    }

    @Test
    void unsupportedActivationAndTypesAreNamed() {
        int x = model.tensor(TensorSpec.of("x", TensorType.BOOL, 1, 4));
        int y = model.tensor(TensorSpec.of("y", TensorType.BOOL, 1, 4));
        model.operator(BuiltinOperator.ADD, 2, Options.add((byte) 4), new int[] {x, x}, y)
                .inputs(x)
                .outputs(y);
        problems("fused activation TANH is not supported", "element type bool of `x`", "element type bool of `y`");
    }

    @Test
    void danglingAndCyclicTensorsAreTold() {
        int x = model.tensor(value("x"));
        int a = model.tensor(value("a"));
        int b = model.tensor(value("b"));
        int nowhere = model.tensor(value("nowhere"));
        add(x, b, a);
        add(a, nowhere, b);
        model.inputs(x).outputs(b);
        problems(
                "input `b` int8 (1, 4) is computed only by operator #1",
                "input `nowhere` int8 (1, 4) is never computed");
    }

    @Test
    void tensorWrittenTwiceOrOverAnInputOrConstantIsTold() {
        int x = model.tensor(value("x"));
        int c = model.tensor(value("c").withData(new byte[4]));
        int y = model.tensor(value("y"));
        add(x, x, y);
        add(x, x, y);
        add(x, x, c);
        add(y, y, x);
        model.inputs(x).outputs(y);
        problems(
                "tensor `y` int8 (1, 4) was already written by operator #0",
                "it writes to the constant `c`",
                "it writes to the model input `x`");
    }

    @Test
    void inputsAndOutputsAreChecked() {
        int x = model.tensor(value("x"));
        int c = model.tensor(value("c").withData(new byte[4]));
        int y = model.tensor(value("y"));
        add(x, x, y);
        model.inputs(x, x, c, 77).outputs(y, y, x, c, -5);
        problems(
                "model input `x` int8 (1, 4): the tensor is listed twice",
                "model input `c` int8 (1, 4): an input is a constant",
                "model input #77: the tensor does not exist",
                "model output #-5: the tensor does not exist");
    }

    @Test
    void outputThatIsEmptyOrNeverComputedIsTold() {
        int x = model.tensor(value("x"));
        int none = model.tensor(TensorSpec.int8("none", 0.5f, 0, 1, 0));
        int y = model.tensor(value("y"));
        int z = model.tensor(value("z"));
        add(x, x, y);
        model.inputs(x).outputs(none, z);
        problems("model output `none` int8 (1, 0): an output has no elements", "no operator computes the output");
    }

    @Test
    void missingInputsOutputsAndOperatorsAreTold() {
        model.tensor(value("x"));
        problems("the model has no model inputs", "the model has no model outputs", "the model has no operators");
    }

    @Test
    void operatorWithTensorsOutsideTheModelIsTold() {
        int x = model.tensor(value("x"));
        int y = model.tensor(value("y"));
        add(x, 99, y);
        add(x, x, 1234);
        model.inputs(x).outputs(y);
        problems("input tensor #99 does not exist", "output tensor #1234 does not exist");
    }

    @ParameterizedTest
    @ValueSource(ints = {-2, Integer.MIN_VALUE})
    void negativeIndicesAreTold(int index) {
        int x = model.tensor(value("x"));
        int y = model.tensor(value("y"));
        model.operator(BuiltinOperator.ADD, 2, Options.none(), new int[] {x, index}, y)
                .operator(BuiltinOperator.ADD, 2, Options.none(), new int[] {x, x}, index)
                .inputs(x)
                .outputs(y);
        problems("input tensor #" + index + " does not exist", "output tensor #" + index + " does not exist");
    }

    @Test
    void optionsOfAnotherOperatorAreTold() {
        int x = model.tensor(value("x"));
        int y = model.tensor(value("y"));
        model.operator(BuiltinOperator.ADD, 2, Options.softmax(1f), new int[] {x, x}, y)
                .inputs(x)
                .outputs(y);
        problems("operator #0 ADD", "its options are of type 9", "options of type 11 (BuiltinOptions)");
    }

    @Test
    void optionsThatAreNoneOrHaveAbsurdFieldsAreTold() {
        int x = model.tensor(TensorSpec.int8("x", 0.5f, 3, 1, 4, 4, 1));
        int y = model.tensor(TensorSpec.int8("y", 0.5f, 3, 1, 4, 4, 1));
        int z = model.tensor(TensorSpec.int8("z", 0.5f, 3, 1, 4, 4, 1));
        model.operator(BuiltinOperator.MAX_POOL_2D, 2, Options.none(), new int[] {x}, y)
                .operator(
                        BuiltinOperator.MAX_POOL_2D,
                        2,
                        Options.table(BuiltinOptions.Pool2DOptions, Field.int8(0, 77)),
                        new int[] {x},
                        z)
                .inputs(x)
                .outputs(y, z);
        problems("operator #0 MAX_POOL_2D", "its options are missing", "operator #1 MAX_POOL_2D", "padding");
    }

    @Test
    void subgraphsThatAreNeverCalledAreIgnored() {
        int x = model.tensor(value("x"));
        int y = model.tensor(value("y"));
        add(x, x, y);
        model.inputs(x).outputs(y);
        model.nextSubgraph();
        model.nextSubgraph();
        assertThat(model.read().results()).hasSize(1);
    }

    @Test
    void otherSchemaVersionIsTold() {
        int x = model.tensor(value("x"));
        int y = model.tensor(value("y"));
        add(x, x, y);
        model.inputs(x).outputs(y).schemaVersion(2);
        problems("schema version 2 is not supported");
    }

    @Test
    void multiplierBeyondRangeBecomesZero() {
        int x = model.tensor(TensorSpec.int8("x", 1e-30f, 0, 1, 4));
        int w = model.tensor(TensorSpec.int8("w", 1e-8f, 0, 1, 4).withData((byte) 1, (byte) 2, (byte) 3, (byte) 4));
        int y = model.tensor(TensorSpec.int8("y", 1f, 7, 1, 1));
        model.operator(
                        BuiltinOperator.FULLY_CONNECTED,
                        4,
                        Options.fullyConnected(Options.NO_ACTIVATION, false),
                        new int[] {x, w, -1},
                        y)
                .inputs(x)
                .outputs(y);
        Bytes input = Bytes.wrap(new byte[] {127, 127, 127, 127});
        assertThat(Interpreter.run(model.read(), List.of(input))).containsExactly(Bytes.wrap(new byte[] {7}));
    }

    @Test
    void longChainIsReadAndRunQuickly() {
        int first = model.tensor(value("t0"));
        int last = first;
        for (int i = 1; i <= 10_000; i++) {
            int next = model.tensor(value("t" + i));
            add(last, first, next);
            last = next;
        }
        model.inputs(first).outputs(last);
        Bytes chain = Bytes.wrap(model.build());
        assertThat(ReaderProperty.holds(() -> TfliteFrontend.read(chain, "chain.tflite", "default")))
                .isTrue();
        Function function = TfliteFrontend.read(chain, "chain.tflite", "default");
        assertThat(function.bindings()).hasSize(10_000);
        assertThat(Interpreter.run(function, List.of(Bytes.wrap(new byte[4])))).hasSize(1);
    }

    @Test
    void problemOfATensorIsToldOnce() {
        int x = model.tensor(TensorSpec.int8("x", 0f, 0, 1, 4));
        int y = model.tensor(value("y"));
        int z = model.tensor(value("z"));
        add(x, x, y);
        add(x, y, z);
        model.inputs(x).outputs(z);
        KilnException e = catchThrowableOfType(KilnException.class, model::read);
        assertThat(e.problems()).hasSize(1);
    }

    @Test
    void hostileNumberOfProblemsIsCut() {
        int x = model.tensor(value("x"));
        for (int i = 0; i < 5000; i++) {
            model.operator(BuiltinOperator.COS, 1, Options.none(), new int[] {x}, model.tensor(value("y" + i)));
        }
        model.inputs(x).outputs(1);
        KilnException e = catchThrowableOfType(KilnException.class, model::read);
        assertThat(e.problems()).hasSize(1001);
        assertThat(e.getMessage()).contains("there are more problems than these 1000");
    }

    @Test
    void filesThatAreNoModelsAreTold(@TempDir Path folder) throws IOException {
        assertThatThrownBy(() -> TfliteFrontend.read(folder, "default"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("this is a directory");
        assertThatThrownBy(() -> TfliteFrontend.read(folder.resolve("missing.tflite"), "default"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the file does not exist");
        assertThatThrownBy(() -> TfliteFrontend.read(Bytes.ofText("PK.. this is something else"), "a.zip", "default"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("this is not a TensorFlow Lite model");
        assertThatThrownBy(() -> TfliteFrontend.read(Bytes.wrap(new byte[0]), "empty.tflite", "default"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the file is empty");
        Path huge = folder.resolve("huge.tflite");
        try (RandomAccessFile file = new RandomAccessFile(huge.toFile(), "rw")) {
            file.setLength(1L << 33);
        }
        assertThatThrownBy(() -> TfliteFrontend.read(huge, "default"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("at most 33,554,432 bytes");
    }
}
