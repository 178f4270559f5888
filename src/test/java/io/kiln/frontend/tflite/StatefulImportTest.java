// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Variable;
import io.kiln.reference.Interpreter;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** What is wrong with models that remember or call subgraphs, and what is told of it. */
class StatefulImportTest {
    private static final byte TANH = 4;

    private static void assertRefused(TfliteModelBuilder model, String... texts) {
        KilnException e = catchThrowableOfType(KilnException.class, model::read);
        assertThat(e).hasMessageContainingAll(texts);
        assertThat(e.problems().size()).isLessThan(4);
    }

    private static Options branches(int then, int otherwise) {
        return Options.table(BuiltinOptions.IfOptions, Field.int32(0, then), Field.int32(1, otherwise));
    }

    /** A model that calls one of two subgraphs on an input of two floats, its only tensors. */
    private static TfliteModelBuilder choice(Options options, int outputs) {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int condition = m.tensor(TensorSpec.of("condition", TensorType.BOOL, 1));
        int x = m.tensor(TensorSpec.float32("x", 2));
        int y = m.tensor(TensorSpec.float32("y", outputs));
        m.operator(BuiltinOperator.IF, 1, options, new int[] {condition, x}, y);
        return m.inputs(condition, x).outputs(y);
    }

    private static int passing(TfliteModelBuilder m, int elements) {
        int index = m.nextSubgraph();
        int x = m.tensor(TensorSpec.float32("x", elements));
        m.inputs(x).outputs(x);
        m.backToMain();
        return index;
    }

    @Test
    void aSubgraphThatIsNotThereCannotBeCalled() {
        TfliteModelBuilder m = choice(branches(1, 7), 2);
        passing(m, 2);
        assertRefused(m, "subgraph #7 cannot be called", "#1");
        m = choice(branches(0, 1), 2);
        passing(m, 2);
        assertRefused(m, "subgraph #0 cannot be called");
    }

    @Test
    void aSubgraphMustNotCallItself() {
        TfliteModelBuilder m = choice(branches(1, 2), 2);
        m.nextSubgraph();
        int condition = m.tensor(TensorSpec.of("condition", TensorType.BOOL, 1).withData((byte) 1));
        int x = m.tensor(TensorSpec.float32("x", 2));
        int y = m.tensor(TensorSpec.float32("y", 2));
        m.operator(BuiltinOperator.IF, 1, branches(1, 2), new int[] {condition, x}, y);
        m.inputs(x).outputs(y);
        passing(m, 2);
        assertRefused(m, "subgraph #1 calls itself", "no recursion");
    }

    /** Each subgraph calls the next one, once or twice. */
    private static TfliteModelBuilder chain(int length, boolean twice) {
        TfliteModelBuilder m = choice(branches(1, 1), 2);
        for (int i = 1; i <= length; i++) {
            m.nextSubgraph();
            int condition =
                    m.tensor(TensorSpec.of("condition", TensorType.BOOL, 1).withData((byte) 1));
            int x = m.tensor(TensorSpec.float32("x", 2));
            int y = m.tensor(TensorSpec.float32("y", 2));
            m.operator(BuiltinOperator.IF, 1, branches(i + 1, twice ? i + 1 : length + 1), new int[] {condition, x}, y);
            m.inputs(x).outputs(y);
        }
        passing(m, 2);
        return m;
    }

    @Test
    void callsNeitherGoTooDeepNorMultiplyWithoutEnd() {
        assertRefused(chain(5000, false), "16 deep");
        assertRefused(chain(14, true), "subgraphs call each other 257 times", "at most 256 calls");
        assertThat(chain(5, true).read().functions()).hasSize(2);
    }

    @Test
    void aBranchMustTakeAndComputeWhatTheCallerSays() {
        TfliteModelBuilder m = choice(branches(1, 2), 2);
        passing(m, 2);
        passing(m, 3);
        assertRefused(m, "a subgraph that it calls takes", "(3");
        m = choice(branches(1, 2), 3);
        passing(m, 2);
        passing(m, 2);
        assertRefused(m, "a subgraph that it calls computes", "fixed shapes");
    }

    @Test
    void optionsMustBeTheOperatorsOwn() {
        TfliteModelBuilder m = choice(Options.softmax(1), 2);
        passing(m, 2);
        assertRefused(m, "options of type 92");
        m = choice(Options.none(), 2);
        passing(m, 2);
        assertRefused(m, "its options are missing");
    }

    private static int handle(TfliteModelBuilder m, String name) {
        return handle(m, name, "v");
    }

    private static int handle(TfliteModelBuilder m, String name, String variable) {
        int handle = m.tensor(TensorSpec.of(name, TensorType.RESOURCE));
        Options options = Options.table(BuiltinOptions.VarHandleOptions, Field.text(0, ""), Field.text(1, variable));
        m.operator(BuiltinOperator.VAR_HANDLE, 1, options, new int[0], handle);
        return handle;
    }

    /** The same in every run of the Java virtual machine. */
    @Test
    void variablesHaveTheOrderOfTheirFirstUse() {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.float32("x", 1));
        int y = m.tensor(TensorSpec.float32("y", 1));
        Options options = Options.table(BuiltinOptions.CallOnceOptions, Field.int32(0, 1));
        m.operator(BuiltinOperator.CALL_ONCE, 1, options, new int[0]);
        m.operator(BuiltinOperator.RELU, 1, Options.none(), new int[] {x}, y);
        m.inputs(x).outputs(y).nextSubgraph();
        int first = m.tensor(TensorSpec.float32("first", 1).withData(new byte[] {0, 0, (byte) 0x80, 0x3F}));
        List<String> names = List.of("delta", "alpha", "echo", "bravo", "charlie", "golf", "foxtrot", "hotel");
        for (String name : names) {
            int handle = handle(m, name, name);
            m.operator(BuiltinOperator.ASSIGN_VARIABLE, 1, Options.none(), new int[] {handle, first});
        }
        Function function = m.backToMain().read();
        assertThat(function.variables())
                .extracting(Variable::name)
                .containsExactlyElementsOf(
                        names.stream().map(name -> "/" + name).toList());
        assertThat(function.variables())
                .extracting(Variable::initial)
                .containsOnly(Constant.vector(1f).data());
    }

    @Test
    void aVariableHasOneType() {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.float32("x", 2));
        int handle = handle(m, "h");
        m.operator(BuiltinOperator.ASSIGN_VARIABLE, 1, Options.none(), new int[] {handle, x});
        int y = m.tensor(TensorSpec.of("y", TensorType.INT32, 2));
        m.operator(BuiltinOperator.READ_VARIABLE, 1, Options.none(), new int[] {handle}, y);
        assertRefused(m.inputs(x).outputs(y), "the variable had another type than `y` int32 (2,)");
    }

    @Test
    void onlyAHandleStandsForAVariable() {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.float32("x", 2));
        int y = m.tensor(TensorSpec.float32("y", 2));
        m.operator(BuiltinOperator.READ_VARIABLE, 1, Options.none(), new int[] {x}, y);
        assertRefused(m.inputs(x).outputs(y), "`x` is not a variable", "VAR_HANDLE");
    }

    /** READ_VARIABLE of an int32 constant, which is no handle though it looks like one. */
    @Test
    void anIntegerIsNoHandle() {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.float32("x", 2));
        int number = m.tensor(TensorSpec.int32("number", 7));
        int y = m.tensor(TensorSpec.float32("y", 2));
        m.operator(BuiltinOperator.READ_VARIABLE, 1, Options.none(), new int[] {number}, y);
        assertRefused(m.inputs(x).outputs(y), "`number` is not a variable", "VAR_HANDLE");
    }

    /** A loop of which the body hands on another variable than it takes. */
    @Test
    void aLoopKeepsItsVariables() {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.of("x", TensorType.BOOL, 1));
        int handle = handle(m, "h");
        int condition = m.nextSubgraph();
        int asked = m.tensor(TensorSpec.of("handle", TensorType.RESOURCE));
        int goesOn = m.tensor(TensorSpec.of("goes_on", TensorType.BOOL, 1));
        m.inputs(asked, goesOn).outputs(goesOn);
        m.nextSubgraph();
        int taken = m.tensor(TensorSpec.of("handle", TensorType.RESOURCE));
        int value = m.tensor(TensorSpec.of("value", TensorType.BOOL, 1));
        int other = m.tensor(TensorSpec.of("other", TensorType.RESOURCE));
        Options options = Options.table(BuiltinOptions.VarHandleOptions, Field.text(0, ""), Field.text(1, "other"));
        m.operator(BuiltinOperator.VAR_HANDLE, 1, options, new int[0], other);
        m.inputs(taken, value).outputs(other, value);
        m.backToMain();
        int out = m.tensor(TensorSpec.of("handle_out", TensorType.RESOURCE));
        int y = m.tensor(TensorSpec.of("y", TensorType.BOOL, 1));
        m.operator(BuiltinOperator.WHILE, 1, loop(condition), new int[] {handle, x}, out, y);
        assertRefused(m.inputs(x).outputs(y), "its body returns handles of other variables than it takes");
    }

    /** A loop without end over one float: its condition is a constant. */
    private static void endless(TfliteModelBuilder m, int from, int to) {
        int condition = m.nextSubgraph();
        int x = m.tensor(TensorSpec.float32("x", 1));
        int goesOn = m.tensor(TensorSpec.of("goes_on", TensorType.BOOL, 1).withData((byte) 1));
        m.inputs(x).outputs(goesOn);
        m.nextSubgraph();
        int in = m.tensor(TensorSpec.float32("x", 1));
        m.inputs(in).outputs(in);
        m.backToMain();
        m.operator(BuiltinOperator.WHILE, 1, loop(condition), new int[] {from}, to);
    }

    private static Options loop(int condition) {
        return Options.table(BuiltinOptions.WhileOptions, Field.int32(0, condition), Field.int32(1, condition + 1));
    }

    @Test
    void aLoopWithoutEndIsToldWhenTheModelRuns() {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.float32("x", 1));
        int y = m.tensor(TensorSpec.float32("y", 1));
        endless(m, x, y);
        Function function = m.inputs(x).outputs(y).read();
        KilnException e = catchThrowableOfType(
                KilnException.class, () -> Interpreter.run(function, List.of(Bytes.wrap(new byte[4]))));
        assertThat(e).hasMessageContaining("run more than 1000000 times");
    }

    @Test
    void aLoopWithoutEndBeforeTheFirstRunIsRefused() {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.float32("x", 1));
        int y = m.tensor(TensorSpec.float32("y", 1));
        endless(m, x, y);
        m.inputs(x).outputs(y);
        m.nextSubgraph();
        int first = m.tensor(TensorSpec.float32("first", 1).withData(new byte[4]));
        int value = m.tensor(TensorSpec.float32("value", 1));
        m.operator(BuiltinOperator.WHILE, 1, loop(1), new int[] {first}, value);
        int handle = handle(m, "h");
        m.operator(BuiltinOperator.ASSIGN_VARIABLE, 1, Options.none(), new int[] {handle, value});
        m.backToMain();
        Options options = Options.table(BuiltinOptions.CallOnceOptions, Field.int32(0, 3));
        m.operator(BuiltinOperator.CALL_ONCE, 1, options, new int[0]);
        assertRefused(m, "run more than 10000 times");
    }

    /** A float LSTM of one unit with a change of one of its inputs. */
    private static TfliteModelBuilder lstm(int changed, TensorSpec by, Options options) {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int[] in = new int[24];
        Arrays.fill(in, -1);
        for (int i = 0; i < in.length; i++) {
            boolean weights = i >= 1 && i < 9;
            boolean bias = i >= 12 && i < 16;
            TensorSpec tensor = weights
                    ? TensorSpec.float32("w" + i, 1, 1).withData(new byte[4])
                    : bias
                            ? TensorSpec.float32("b" + i, 1).withData(new byte[4])
                            : TensorSpec.float32("t" + i, 1, 1).asVariable();
            if (i == changed) {
                in[i] = by.name().isEmpty() ? -1 : m.tensor(by);
            } else if (i == 0) {
                in[i] = m.tensor(TensorSpec.float32("x", 1, 2, 1));
            } else if (weights || bias || i == 18 || i == 19) {
                in[i] = m.tensor(tensor);
            }
        }
        int y = m.tensor(TensorSpec.float32("y", 1, 2, 1));
        m.operator(BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM, 1, options, in, y);
        boolean isInput = changed > 0 && in[changed] >= 0 && !by.isConstant();
        return (isInput ? m.inputs(in[0], in[changed]) : m.inputs(in[0])).outputs(y);
    }

    private static Options lstmOptions(int activation, float clip) {
        return Options.table(
                BuiltinOptions.UnidirectionalSequenceLSTMOptions, Field.int8(0, activation), Field.float32(1, clip));
    }

    @ParameterizedTest
    @CsvSource({
        "1, '', no weights of the input gate",
        "5, '', no recurrent weights of the input gate",
        "12, '', no bias of the input gate",
        "18, '', no hidden state",
        "9, extra, peephole connections",
        "16, extra, a projection",
        "20, extra, layer normalization",
        "18, extra, the state `extra` is not a variable",
        "19, extra, the state `extra` is not a variable",
        "2, extra, weights `extra` is not constant",
        "13, extra, bias `extra` is not constant"
    })
    void anLstmOfAnotherKindIsRefused(int input, String name, String reason) {
        assertRefused(lstm(input, TensorSpec.float32(name, 1, 1), lstmOptions(TANH, 0)), reason);
    }

    @Test
    void anLstmsOptionsAndTypesMustFit() {
        TensorSpec none = TensorSpec.float32("");
        assertThat(lstm(-1, none, lstmOptions(TANH, 1)).read().variables()).hasSize(2);
        assertRefused(lstm(-1, none, lstmOptions(1, 0)), "its activation is number 1", "TANH");
        assertRefused(lstm(-1, none, lstmOptions(TANH, -1)), "its cell clip is -1.0");
        assertRefused(lstm(-1, none, Options.softmax(1)), "options of type 71");
        TensorSpec wide = TensorSpec.float32("wide", 1, 2).withData(new byte[8]);
        assertRefused(lstm(3, wide, lstmOptions(TANH, 0)), "input weights must have shape (1, 1)");
        TensorSpec small = TensorSpec.of("small", TensorType.INT8, 1, 1).withData((byte) 1);
        assertRefused(lstm(6, small, lstmOptions(TANH, 0)), "weights `small` is int8");
    }
}
