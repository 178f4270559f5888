// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_ADD;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_COMPOSITE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_MAXIMUM;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.flatbuffers.IntVector;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.schema.StablehloOptions.StableHLOComposite;
import io.kiln.frontend.tflite.single.OperatorCases;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.ir.type.Shape;
import io.kiln.reference.Interpreter;
import io.kiln.reference.OwnModel;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.Model;
import org.tensorflow.lite.schema.Operator;
import org.tensorflow.lite.schema.OperatorCode;
import org.tensorflow.lite.schema.SubGraph;

/** Shapes of inputs that the user gives, and what follows from them. */
class GivenShapesTest {
    private final TfliteModelBuilder model = new TfliteModelBuilder();

    /** A convolution with stride 2, flattened: height and width are open. */
    private void openModel(int... flatShape) {
        int x = model.tensor(TensorSpec.float32("image:0", 1, 1, 1, 3));
        model.signature(x, -1, -1, -1, 3);
        int w = model.tensor(TensorSpec.float32("w", 2, 3, 3, 3).withData(new byte[4 * 2 * 3 * 3 * 3]));
        int y = model.tensor(TensorSpec.float32("y", 1, -1, -1, 2));
        int to = model.tensor(TensorSpec.int32("to", flatShape));
        int flat = model.tensor(TensorSpec.float32("flat", 1, 1));
        model.operator(
                BuiltinOperator.CONV_2D,
                3,
                Options.conv2d(Options.VALID, 2, 2, Options.NO_ACTIVATION, 1, 1),
                new int[] {x, w, -1},
                y);
        model.operator(BuiltinOperator.RESHAPE, 1, Options.none(), new int[] {y, to}, flat);
        model.inputs(x).outputs(flat);
    }

    private Function read(String shapes) {
        Function function =
                TfliteFrontend.read(Bytes.wrap(model.build()), "test.tflite", "default", InputShapes.parse(shapes));
        Verifier.verify(function);
        return function;
    }

    @Test
    void openDimensionsSayWhichParameterFixesThem() {
        openModel(1, -1);
        assertThatThrownBy(() -> read(""))
                .isInstanceOfSatisfying(
                        KilnException.class,
                        e -> assertThat(e.problems()).singleElement().satisfies(p -> {
                            assertThat(p.where()).contains("`image:0` float32 (1, 1, 1, 3)");
                            assertThat(p.what()).isEqualTo("the input leaves dimensions open: [1, 2]");
                            assertThat(p.next()).contains("kiln.inputShapes=image:0:1,?,?,3 ");
                        }));
    }

    @Test
    void shapesOfAllThatIsComputedFollow() {
        openModel(1, -1);
        Function function = read("image:0:1,9,7,3");
        assertThat(function.bindings())
                .extracting(b -> b.type().shape())
                .containsExactly(Shape.of(1, 4, 3, 2), Shape.of(1, 24));
    }

    /** The file's shapes of operands and result are those of other inputs. */
    @Test
    void shapesOfStablehlosOperatorsFollow() {
        int[] in = {model.tensor(TensorSpec.float32("a", 1, 1)), model.tensor(TensorSpec.float32("b", 1, 1))};
        int sum = model.tensor(TensorSpec.float32("sum", 1, 1));
        int most = model.tensor(TensorSpec.float32("most", 1, 1));
        model.operator(STABLEHLO_ADD.code(), 1, Options.none(), in, sum);
        model.operator(STABLEHLO_MAXIMUM.code(), 1, Options.none(), new int[] {sum, in[1]}, most);
        model.inputs(in).outputs(most);
        assertThat(read("a:2,3;b:2,3").bindings())
                .extracting(b -> b.type().shape())
                .containsExactly(Shape.of(2, 3), Shape.of(2, 3));
    }

    /** The file's shapes of all that is computed, and of what subgraphs take, are others: those of other inputs. States keep theirs. */
    @ParameterizedTest
    @MethodSource("io.kiln.frontend.tflite.single.SingleOperatorTest#operators")
    void noOperatorNeedsTheShapesThatFollow(OperatorCases operator) {
        for (int seed = 0; seed < 4; seed++) {
            Bytes file = operator.model(seed);
            Function function = read(file, InputShapes.NONE);
            Map<String, Shape> shapes = function.params().stream()
                    .collect(toMap(p -> p.name(), p -> p.type().shape()));
            if (!shapes.isEmpty()) {
                assertThat(RelayPrinter.print(read(ofOtherShapes(file), new InputShapes(shapes))))
                        .as("seed " + seed)
                        .isEqualTo(RelayPrinter.print(function));
            }
        }
    }

    @Test
    void shapesOfACompositesOperatorsFollow() {
        int x = model.tensor(TensorSpec.float32("x", 1, 2));
        int y = model.tensor(TensorSpec.float32("y", 1, 2));
        int body = model.nextSubgraph();
        int in = model.tensor(TensorSpec.float32("in", 1, 2));
        int out = model.tensor(TensorSpec.float32("out", 1, 2));
        model.operator(BuiltinOperator.NEG, 1, Options.none(), new int[] {in}, out)
                .inputs(in)
                .outputs(out)
                .backToMain();
        Options options = Options.table(
                (byte) StableHLOComposite.TYPE.code(), Field.text(0, "own.negation"), Field.int32(1, body));
        model.operator(STABLEHLO_COMPOSITE.code(), 1, options.later(), new int[] {x}, y)
                .inputs(x)
                .outputs(y);
        assertThat(read("x:3,2").bindings()).extracting(b -> b.type().shape()).containsExactly(Shape.of(3, 2));
    }

    private static Function read(Bytes file, InputShapes shapes) {
        return TfliteFrontend.read(file, "test.tflite", "default", shapes);
    }

    private static Bytes ofOtherShapes(Bytes file) {
        ByteBuffer buffer = ByteBuffer.wrap(file.toArray()).order(ByteOrder.LITTLE_ENDIAN);
        Model parsed = Model.getRootAsModel(buffer);
        for (int g = 0; g < parsed.subgraphsLength(); g++) {
            SubGraph graph = parsed.subgraphs(g);
            Set<Integer> others = new HashSet<>();
            for (int i = 0; g > 0 && i < graph.inputsLength(); i++) {
                others.add(graph.inputs(i));
            }
            for (int i = 0; i < graph.operatorsLength(); i++) {
                Operator operator = graph.operators(i);
                OperatorCode code = parsed.operatorCodes((int) operator.opcodeIndex());
                boolean isState = code.builtinCode() == BuiltinOperator.READ_VARIABLE
                        || "CIRCULAR_BUFFER".equals(code.customCode());
                for (int k = 0; !isState && k < operator.outputsLength(); k++) {
                    others.add(operator.outputs(k));
                }
            }
            for (int tensor : others) {
                IntVector shape = graph.tensors(tensor).shapeVector();
                ByteBuffer dims = graph.tensors(tensor).shapeAsByteBuffer();
                for (int i = 0; dims != null && i < shape.length(); i++) {
                    dims.putInt(dims.position() + Integer.BYTES * i, shape.get(i) == 1 ? 2 : 1);
                }
            }
        }
        return Bytes.wrap(buffer.array());
    }

    @Test
    void aContradictionIsToldWithItsOperatorAndNothingElse() {
        openModel(1, 25);
        assertThatThrownBy(() -> read("image:0:1,9,7,3"))
                .isInstanceOfSatisfying(
                        KilnException.class,
                        e -> assertThat(e.problems())
                                .singleElement()
                                .satisfies(p -> assertThat(p.text())
                                        .contains("operator #1 RESHAPE")
                                        .contains("new shape [1, 25] does not fit")
                                        .contains("(1, 4, 3, 2)")));
        assertThatThrownBy(() -> read("image:0:1,2,7,3"))
                .isInstanceOfSatisfying(
                        KilnException.class,
                        e -> assertThat(e.problems())
                                .singleElement()
                                .satisfies(p -> assertThat(p.where()).contains("operator #0 CONV_2D")));
        assertThatThrownBy(() -> read("image:0:1,9,7,4"))
                .hasMessageContaining("operator #0 CONV_2D")
                .hasMessageContaining("do not fit 4 input channels");
    }

    @Test
    void wrongNamesAndRanksAreToldTogether() {
        openModel(1, -1);
        assertThatThrownBy(() -> read("imag:0:1,9,7,3;image:0:1,9,7"))
                .hasMessageContaining("`imag:0`, which is not an input of the model")
                .hasMessageContaining("Did you mean image:0")
                .hasMessageContaining("(1, 9, 7) of rank 3")
                .hasMessageContaining("rank 4");
    }

    @Test
    void hugeShapesAreRefusedBeforeAnythingIsMade() {
        openModel(1, -1);
        assertThatThrownBy(() -> read("image:0:1,999999999,999999999,3"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the tensor would take");
    }

    @ParameterizedTest
    @EnumSource(
            value = OwnModel.class,
            names = {"KEYWORDS", "RESIDUAL", "CODER", "SINE"})
    void aBatchOfTwoAnswersAsTwoRuns(OwnModel model) {
        Function one = model.read();
        StringBuilder shape = new StringBuilder(one.params().get(0).name()).append(":2");
        one.params().get(0).type().shape().dims().stream()
                .skip(1)
                .forEach(dim -> shape.append(',').append(dim));
        Function two = TfliteFrontend.read(model.model(), "default", InputShapes.parse(shape.toString()));
        Verifier.verify(two);
        Bytes inputs = joined(model.input(0), model.input(1));
        assertThat(Interpreter.run(two, List.of(inputs)).get(0)).isEqualTo(joined(model.output(0), model.output(1)));
    }

    private static Bytes joined(Bytes a, Bytes b) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        joined.writeBytes(a.toArray());
        joined.writeBytes(b.toArray());
        return Bytes.wrap(joined.toByteArray());
    }
}
