// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static io.kiln.frontend.onnx.model.ElementType.BOOL;
import static io.kiln.frontend.onnx.model.ElementType.FLOAT;
import static io.kiln.frontend.onnx.model.ElementType.INT64;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import com.google.protobuf.InvalidProtocolBufferException;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.ExternalData;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.InputValues;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.reader.ModelReader;
import io.kiln.frontend.onnx.reader.ModelReader.ReadBudget;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.reference.Interpreter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Graphs as tools write them, against the letter of the format: out of order, with open, wrong and missing statements, with inputs that are constants. */
class FileGraphsTest {
    private static final int OPSET = 17;
    private static final int LONG_CHAIN = 100_000;

    private static Bytes changed(Bytes file, Consumer<ModelProto.Builder> change) {
        try {
            ModelProto.Builder builder = ModelProto.parseFrom(file.toArray()).toBuilder();
            change.accept(builder);
            return Bytes.wrap(builder.build().toByteArray());
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static Function read(Bytes file, String values) {
        return OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE.with(InputValues.parse(values)));
    }

    private static void refused(Bytes file, String values, String... parts) {
        assertThatThrownBy(() -> read(file, values))
                .isInstanceOf(KilnException.class)
                .hasMessageContainingAll(parts)
                .message()
                .hasSizeLessThan(2000);
    }

    private static List<Bytes> data(Function function) {
        List<Bytes> data = new ArrayList<>();
        for (Parameter param : function.params()) {
            data.add(RandomOperators.input(param.type(), 1 + data.size()));
        }
        return data;
    }

    /** A chain with branches: nodes read random earlier values, some of them inside both branches of an If, or in a Loop. */
    private static Bytes drawn(long seed) {
        Random random = new Random(seed);
        ModelBuilder model = new ModelBuilder(OPSET);
        List<String> values = new ArrayList<>(
                List.of(model.input("x", FLOAT, List.of(2, 3)), model.input("y", FLOAT, List.of(2, 3))));
        model.input("flag", BOOL, List.of());
        String trips = model.longs(true, 3);
        for (int i = 0; i < 6 + random.nextInt(6); i++) {
            String first = values.get(random.nextInt(values.size()));
            String second = values.get(random.nextInt(values.size()));
            String name = "v" + i;
            switch (random.nextInt(5)) {
                case 0 ->
                    model.node(
                            "If",
                            List.of("flag"),
                            name,
                            Map.of(
                                    "then_branch", branch(name + "t", "Tanh", first, second),
                                    "else_branch", branch(name + "e", "Sigmoid", second, first)));
                case 1 -> model.node("Loop", List.of(trips, "", first), name, Map.of("body", loop(name, second)));
                default -> model.node(random.nextBoolean() ? "Add" : "Mul", List.of(first, second), name, Map.of());
            }
            values.add(name);
        }
        model.output(values.get(values.size() - 1), FLOAT);
        return model.build();
    }

    private static NodeProto node(String operator, String output, String... inputs) {
        return NodeProto.newBuilder()
                .setOpType(operator)
                .addAllInput(List.of(inputs))
                .addOutput(output)
                .build();
    }

    private static ValueInfoProto named(String name) {
        return ValueInfoProto.newBuilder().setName(name).build();
    }

    private static GraphProto branch(String name, String operator, String first, String second) {
        return GraphProto.newBuilder()
                .addNode(node(operator, name + "0", first))
                .addNode(node("Add", name + "1", name + "0", second))
                .addOutput(named(name + "1"))
                .build();
    }

    private static GraphProto loop(String name, String around) {
        return GraphProto.newBuilder()
                .addInput(named(name + "i"))
                .addInput(named(name + "c"))
                .addInput(named(name + "s"))
                .addNode(node("Tanh", name + "0", name + "s"))
                .addNode(node("Add", name + "1", name + "0", around))
                .addNode(node("Identity", name + "2", name + "c"))
                .addOutput(named(name + "2"))
                .addOutput(named(name + "1"))
                .build();
    }

    /** The same nodes in another order, also inside bodies. */
    private static GraphProto shuffled(GraphProto graph, Random random) {
        List<NodeProto> nodes = new ArrayList<>();
        for (NodeProto node : graph.getNodeList()) {
            NodeProto.Builder other = node.toBuilder();
            other.getAttributeBuilderList().forEach(attribute -> {
                if (attribute.hasG()) {
                    attribute.setG(shuffled(attribute.getG(), random));
                }
            });
            nodes.add(other.build());
        }
        Collections.shuffle(nodes, random);
        return graph.toBuilder().clearNode().addAllNode(nodes).build();
    }

    @Test
    void nodesInAnyOrderAreSorted() {
        for (int seed = 0; seed < 60; seed++) {
            Bytes file = drawn(seed);
            Random random = new Random(seed);
            Function sorted = read(file, "");
            Function other = read(changed(file, m -> m.setGraph(shuffled(m.getGraph(), random))), "");
            List<Bytes> data = data(sorted);
            List<Bytes> answer = Interpreter.run(sorted, data);
            assertThat(Interpreter.run(other, data)).as("%s", seed).isEqualTo(answer);
        }
    }

    /** Of nodes that can be next the first in the file is, so that a sorted file stays as it is. */
    @Test
    void sortingIsStable() {
        for (int seed = 0; seed < 20; seed++) {
            Bytes file = drawn(seed);
            var model = ModelReader.read(file, "m.onnx", ExternalData.NONE, new ReadBudget("m.onnx", 1 << 20));
            assertThat(model.graph().nodes().stream().map(n -> n.index()))
                    .isEqualTo(IntStream.range(0, model.graph().nodes().size())
                            .boxed()
                            .toList());
        }
    }

    @Test
    void circlesAndNamesWithoutAProducerAreToldApart() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", FLOAT, List.of(2));
        model.node("Relu", List.of("x"), "a", Map.of());
        model.node("Add", List.of("a", "d"), "b", Map.of());
        model.node("Abs", List.of("b"), "c", Map.of());
        model.node("Neg", List.of("c"), "d", Map.of());
        model.output("d", FLOAT);
        refused(
                model.build(),
                "",
                "m.onnx: 3 nodes read each other's results in a circle: #1 Add reads #3 Neg reads #2 Abs reads #1");
        ModelBuilder own = new ModelBuilder(OPSET);
        own.input("x", FLOAT, List.of(2));
        own.node("Add", List.of("x", "y"), "y", Map.of());
        refused(own.build(), "", "a node reads its own result: #0 Add reads #0");
        ModelBuilder missing = new ModelBuilder(OPSET);
        missing.input("x", FLOAT, List.of(2));
        missing.node("Add", List.of("x", "z"), "y", Map.of());
        missing.output("y", FLOAT);
        refused(missing.build(), "", "node #0 Add (x, z -> y): its input `z` does not exist");
        Bytes inBody = changed(
                drawn(1),
                m -> m.getGraphBuilder()
                        .addNode(node("If", "w", "flag").toBuilder()
                                .addAttribute(0, attribute("then_branch", branch("p", "Tanh", "w", "x")))
                                .addAttribute(0, attribute("else_branch", branch("q", "Tanh", "x", "x")))));
        refused(inBody, "", "a node reads its own result", "If");
    }

    private static ai.onnx.proto.OnnxMl.AttributeProto attribute(String name, GraphProto body) {
        return ai.onnx.proto.OnnxMl.AttributeProto.newBuilder()
                .setName(name)
                .setType(ai.onnx.proto.OnnxMl.AttributeProto.AttributeType.GRAPH)
                .setG(body)
                .build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Identity", "Relu"})
    void longChainsInReverseTakeSeconds(String operator) {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("v0", FLOAT, List.of(2));
        for (int i = LONG_CHAIN; i > 0; i--) {
            model.node(operator, List.of("v" + (i - 1)), "v" + i, Map.of());
        }
        model.output("v" + LONG_CHAIN, FLOAT);
        if (operator.equals("Identity")) {
            assertThat(read(model.build(), "").bindings()).hasSize(1);
        } else {
            refused(model.build(), "", "the model becomes more than 65536 operators");
        }
        Bytes circle = changed(
                model.build(),
                m -> m.getGraphBuilder().getNodeBuilder(LONG_CHAIN - 1).setInput(0, "v" + LONG_CHAIN));
        refused(circle, "", LONG_CHAIN + " nodes read each other's results", "reads ... reads");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1})
    void sizesBelowOneAreOpen(long size) {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", FLOAT, List.of((int) size, 3));
        model.node("Relu", List.of("x"), "y", Map.of());
        model.output("y", FLOAT, List.of((int) size, 3));
        assertThat(read(model.build(), "").params().get(0).type().shape().dims())
                .containsExactly(1, 3);
        Bytes inner = changed(
                model.build(),
                m -> m.getGraphBuilder()
                        .getInputBuilder(0)
                        .getTypeBuilder()
                        .getTensorTypeBuilder()
                        .getShapeBuilder()
                        .getDimBuilder(1)
                        .setDimValue(size));
        refused(inner, "", "dimension 1 of the input is open", "Set kiln.inputShapes");
        assertThat(OnnxFrontend.read(inner, "m.onnx", "m", InputShapes.parse("x:2,5"))
                        .params()
                        .get(0)
                        .type()
                        .shape()
                        .dims())
                .containsExactly(2, 5);
    }

    @Test
    void outputsMayBeNamedTwiceAndInputsMayBeConstants() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", FLOAT, List.of(2));
        model.node("Add", List.of("x", "w"), "y", Map.of());
        model.output("y", FLOAT);
        model.output("y", FLOAT);
        model.input("w", FLOAT, List.of(2));
        Bytes file = changed(
                model.build(),
                m -> m.setIrVersion(3)
                        .getGraphBuilder()
                        .addInitializer(TensorProto.newBuilder()
                                .setName("w")
                                .setDataType(TensorProto.DataType.FLOAT_VALUE)
                                .addDims(2)
                                .addFloatData(1)
                                .addFloatData(2)));
        Function function = read(file, "");
        assertThat(function.params()).extracting(Parameter::name).containsExactly("x");
        List<Bytes> answers = Interpreter.run(function, data(function));
        assertThat(answers).hasSize(2);
        assertThat(answers.get(1)).isEqualTo(answers.get(0));
        refused(file, "w=[1, 2]", "kiln.inputValues names `w`, a constant of the model");
    }

    /** {@code x * rate} where the rate is 2, otherwise {@code x + x}; the end of a slice is an input, too. */
    private static Bytes chosen(ElementType rate) {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", FLOAT, List.of(6));
        model.input("rate", rate, List.of());
        model.input("end", INT64, List.of(1));
        model.node("Cast", List.of("rate"), "real", Map.of("to", 1L));
        model.node("Equal", List.of("real", model.floats(true, 2)), "isTwo", Map.of());
        GraphProto wide = GraphProto.newBuilder()
                .addNode(node("Slice", "s", "x", model.longs(false, 0), "end"))
                .addOutput(named("s"))
                .build();
        model.node(
                "If", List.of("isTwo"), "y", Map.of("then_branch", wide, "else_branch", branch("e", "Tanh", "x", "x")));
        model.output("y", FLOAT);
        return model.build();
    }

    @ParameterizedTest
    @CsvSource({"INT64,2", "INT8,2", "FLOAT,2.0", "FLOAT,2e0", "UINT64,2", "INT32,2"})
    void inputsWithAValueAreConstants(ElementType type, String rate) {
        Bytes file = chosen(type);
        Function function = read(file, "rate=" + rate + "; end=[4]");
        assertThat(function.params()).extracting(Parameter::name).containsExactly("x");
        assertThat(function.types().get(function.results().get(0).id()).shape().dims())
                .containsExactly(4);
        assertThat(RelayPrinter.print(read(file, "rate=3;end=1"))).contains("tanh");
    }

    @Test
    void whatMustBeKnownNamesTheInputs() {
        refused(
                chosen(INT64),
                "",
                "its input `end` (ends) is known only when the model runs",
                "Set kiln.inputValues for `end`");
        refused(chosen(INT64), "end=4", "and which of them", "Set kiln.inputValues for `rate`");
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", FLOAT, List.of(6));
        model.input("sizes", INT64, List.of(2));
        model.input("trips", INT64, List.of());
        model.node("", "Split", List.of("x", "sizes"), List.of("a", "b"), Map.of());
        model.node("Loop", List.of("trips", "", "x"), "y", Map.of("body", loop("l", "x")));
        model.output("a", FLOAT);
        model.output("y", FLOAT);
        refused(model.build(), "", "kiln.inputValues for `sizes`", "kiln.inputValues for `trips`");
        Function function = read(model.build(), "sizes=[2, 4];trips=2");
        assertThat(function.params()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rate=2.5;end=4|kiln.inputValues gives it the number 2.5; expected numbers of type int8",
                "rate=128;end=4|the number 128",
                "rate=-129;end=4|the number -129",
                "rate=1e999999999;end=4|the number 1E+999999999",
                "rate=[2, 2];end=4|kiln.inputValues gives it the shape (2,)",
                "speed=2|kiln.inputValues names `speed`; expected one of the inputs x, rate, end",
                "rate=2;x=[1,2,3,4,5,6];end=[4]|all its outputs are constants",
                "rate=true;end=4;x=[[1,2],[3,4],[5,6]]|the shape (3, 2)"
            })
    void valuesFitTheirInputs(String values, String expected) {
        refused(chosen(ElementType.INT8), values, expected);
    }

    @Test
    void openInputsHaveTheShapesOfTheirValues() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", FLOAT, List.of(2, 3));
        model.input("w", FLOAT, List.of(-1, -1));
        model.node("MatMul", List.of("x", "w"), "y", Map.of());
        model.output("y", FLOAT);
        Function function = read(model.build(), "w=[[1, 0], [0, 1], [1, 1]]");
        assertThat(function.types().get(function.results().get(0).id()).shape().dims())
                .containsExactly(2, 2);
        refused(model.build(), "w=[1, 2, 3]", "dimension 1 of the input is open");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "x|has 'x'",
                "x=|the value ''",
                "x=1;x=2|two values",
                "x=[1,[2]]|'[1,[2]]'",
                "x=[1|'[1'",
                "x=a|'a'",
                "x=1 2|'1 2'",
                "x={}|'{}'",
                "=1|has '=1'"
            })
    void textThatHasNoValues(String text, String expected) {
        assertThatThrownBy(() -> InputValues.parse(text))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(expected);
    }

    /** Random texts have values, or are refused. */
    @Test
    void anyTextIsParsedOrRefused() {
        String letters = "ab=;[],.-+eE0123456789 tfnull\"{}";
        Random random = new Random(1);
        int parsed = 0;
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder(random.nextBoolean() ? "a=" : "");
            random.ints(random.nextInt(12), 0, letters.length()).forEach(at -> text.append(letters.charAt(at)));
            try {
                InputValues.parse(text.toString());
                parsed++;
            } catch (KilnException refused) {
                assertThat(refused.getMessage()).contains("kiln.inputValues");
            }
        }
        assertThat(parsed).isBetween(500, 19_000);
        assertThatThrownBy(() -> InputValues.parse("a=" + "[".repeat(90_000))).isInstanceOf(KilnException.class);
    }

    /** ONNX Runtime lacks the windows of version 25: they are masks that can be written out. */
    @ParameterizedTest
    @CsvSource({"-1,-1,0", "2,-1,0", "0,1,0", "1,0,1", "3,2,1"})
    void attentionSeesAWindow(long left, long right, long isCausal) {
        int past = 2;
        int rows = 5;
        byte[] seen = new byte[rows * (past + rows)];
        for (int i = 0; i < seen.length; i++) {
            int key = i % (past + rows);
            int position = past + i / (past + rows);
            boolean isSeen = (left < 0 || key >= position - left)
                    && (right < 0 || key <= position + right)
                    && (isCausal == 0 || key <= position);
            seen[i] = (byte) (isSeen ? 1 : 0);
        }
        List<List<Bytes>> answers = new ArrayList<>();
        for (boolean isMask : List.of(false, true)) {
            ModelBuilder model = new ModelBuilder(25);
            for (String input : List.of("q", "k", "v")) {
                model.input(input, FLOAT, List.of(1, 2, rows, 3));
            }
            for (String input : List.of("pk", "pv")) {
                model.input(input, FLOAT, List.of(1, 2, past, 3));
            }
            String mask = isMask ? model.constant(BOOL, List.of(rows, past + rows), seen) : "";
            Map<String, Object> attributes = isMask
                    ? Map.of()
                    : Map.of("left_window_size", left, "right_window_size", right, "is_causal", isCausal);
            model.node("Attention", List.of("q", "k", "v", mask, "pk", "pv"), "y", attributes);
            model.output("y", FLOAT);
            Function function = read(model.build(), "");
            answers.add(Interpreter.run(function, data(function)));
        }
        assertThat(answers.get(0)).isEqualTo(answers.get(1));
    }

    @Test
    void functionsOfANameDifferInTheirOverload() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", FLOAT, List.of(2));
        model.output("z", FLOAT);
        Bytes file = changed(model.build(), m -> {
            for (String operator : List.of("Tanh", "Relu")) {
                m.addFunctionsBuilder()
                        .setName("F")
                        .setDomain("d")
                        .setOverload(operator)
                        .addInput("a")
                        .addOutput("c")
                        .addOpsetImport(m.getOpsetImport(0))
                        .addNode(node("Neg", "c", "b"))
                        .addNode(node(operator, "b", "a"));
            }
            m.getGraphBuilder()
                    .addNode(node("F", "z", "y").toBuilder().setDomain("d").setOverload("Relu"))
                    .addNode(node("F", "y", "x").toBuilder().setDomain("d").setOverload("Tanh"));
        });
        assertThat(read(file, "").bindings().stream().map(b -> b.op().name()))
                .containsExactly("tanh", "negative", "clip", "negative");
    }

    @Test
    void functionsThatCallThemselvesOrEachOtherAreRefused() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", FLOAT, List.of(2));
        model.output("y", FLOAT);
        Bytes file = changed(model.build(), m -> {
            for (String[] pair : new String[][] {{"F", "G"}, {"G", "F"}}) {
                m.addFunctionsBuilder()
                        .setName(pair[0])
                        .setDomain("d")
                        .addInput("a")
                        .addOutput("b")
                        .addNode(node(pair[1], "b", "a").toBuilder().setDomain("d"));
            }
            m.getGraphBuilder().addNode(node("F", "y", "x").toBuilder().setDomain("d"));
        });
        refused(file, "", "functions and bodies are nested more than 16 deep; expected no recursion");
    }

    @Test
    void newerFilesAreReadAndOnlyOperatorsOfUnknownVersionsRefused() {
        for (long ir : List.of(3L, 8L, 11L, 12L, 13L, 14L)) {
            for (int opset : List.of(13, 21, 22, 24, 27, 28)) {
                ModelBuilder model = new ModelBuilder(opset);
                model.input("x", FLOAT, List.of(2));
                model.node("Relu", List.of("x"), "y", Map.of());
                model.output("y", FLOAT);
                assertThat(read(changed(model.build(), m -> m.setIrVersion(ir)), "")
                                .bindings())
                        .hasSize(1);
            }
        }
        ModelBuilder model = new ModelBuilder(29);
        model.input("x", FLOAT, List.of(2));
        model.node("Relu", List.of("x"), "y", Map.of());
        model.output("y", FLOAT);
        refused(model.build(), "", "Relu of version 29 is not supported", "opset_version=28 or an older one");
        refused(
                changed(model.build(), m -> m.setIrVersion(15)),
                "",
                "version 15 of ONNX's file format is not supported",
                "Set model.ir_version = 14");
    }

    @Test
    void statedShapesThatDoNotHoldAreWarnings() {
        ModelBuilder model = new ModelBuilder(OPSET);
        model.input("x", FLOAT, List.of(2, 3));
        model.node("Transpose", List.of("x"), "y", Map.of());
        model.output("y", FLOAT, List.of(2, 3));
        Bytes file = model.build();
        var read = ModelReader.read(file, "m.onnx", ExternalData.NONE, new ReadBudget("m.onnx", 1 << 20));
        assertThat(OnnxFrontend.convert(read, "m", InputShapes.NONE).warnings())
                .containsExactly("m.onnx: node #0 Transpose (x -> y): its output `y` is float(3, 2), but the model"
                        + " states float(2, 3). The computed shape is used.");
        assertThat(Stream.of("x:5,7").map(InputShapes::parse).map(s -> OnnxFrontend.convert(read, "m", s)))
                .allMatch(model2 -> model2.warnings().isEmpty());
    }
}
