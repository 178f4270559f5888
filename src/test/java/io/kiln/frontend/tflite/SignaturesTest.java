// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.tflite.schema.StablehloOptions.StableHLOComposite;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.reference.Interpreter;
import io.kiln.target.TestTargets;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tensorflow.lite.schema.BuiltinOperator;

/** Files with several subgraphs: which one is the model, and those that are decompositions of composites. */
class SignaturesTest {
    private static final int COMPOSITE = io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_COMPOSITE.code();

    @TempDir
    private Path folder;

    private final TfliteModelBuilder model = new TfliteModelBuilder();

    /** A subgraph of one function of two elements. */
    private void graph(int builtin) {
        int x = model.tensor(TensorSpec.float32("x", 2));
        int y = model.tensor(TensorSpec.float32("y", 2));
        model.operator(builtin, 1, Options.none(), new int[] {x}, y).inputs(x).outputs(y);
    }

    private Function read(String signature) {
        Function function = TfliteFrontend.read(
                Bytes.wrap(model.build()), "m.tflite", "m", InputShapes.NONE.ofSignature(signature));
        Verifier.verify(function);
        return function;
    }

    private static float[] answer(Function function, float... input) {
        ByteBuffer answer = Interpreter.run(function, List.of(Bytes.wrap(LittleEndian.ofFloats(input))))
                .get(0)
                .buffer()
                .order(ByteOrder.LITTLE_ENDIAN);
        return new float[] {answer.getFloat(), answer.getFloat()};
    }

    private static Options composite(int subgraph) {
        return Options.table(
                        (byte) StableHLOComposite.TYPE.code(),
                        Options.Field.text(0, "own.function"),
                        Options.Field.int32(1, subgraph))
                .later();
    }

    @Test
    void theFirstSubgraphIsTheModelUnlessASignatureIsChosen() {
        graph(BuiltinOperator.NEG);
        model.key("second").nextSubgraph();
        graph(BuiltinOperator.ABS);
        model.key("first");
        assertThat(answer(read(""), 1, -2)).containsExactly(-1, 2);
        assertThat(answer(read("second"), 1, -2)).containsExactly(-1, 2);
        assertThat(answer(read("first"), 1, -2)).containsExactly(1, 2);
        assertThatThrownBy(() -> read("third"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the model has no signature `third`")
                .hasMessageContaining("second, first");
    }

    /** Both are entry points of one program. */
    @Test
    void signaturesOfOneFileAreEntryPointsOfOneProgram() {
        graph(BuiltinOperator.NEG);
        model.key("encode").nextSubgraph();
        graph(BuiltinOperator.ABS);
        model.key("decode");
        List<CompiledModel> models = Stream.of("encode", "decode")
                .map(key -> ModelCompiler.compile(
                        RequestDraft.of(Path.of("m.tflite"), TestTargets.M4)
                                .name("m_" + key)
                                .build(),
                        TfliteFrontend.read(
                                Bytes.wrap(model.build()), "m.tflite", "m_" + key, InputShapes.NONE.ofSignature(key))))
                .toList();
        Bytes input = Bytes.wrap(LittleEndian.ofFloats(1, -2));
        ByteBuffer answers = HostProgram.build(
                        folder,
                        models.stream().map(each -> each.library().metadata()).toList(),
                        models.stream()
                                .map(each -> each.library().artifacts().artifacts())
                                .toList())
                .run(List.of(input, input))
                .buffer();
        assertThat(new float[] {answers.getFloat(), answers.getFloat(), answers.getFloat(), answers.getFloat()})
                .containsExactly(-1, 2, 1, 2);
    }

    @Test
    void severalSignaturesAreSeveralModelsOfOneFile() {
        ModelSource both = new ModelSource(
                Path.of("m.tflite"),
                "net",
                new GivenInputs("", "", "en/code, decode"),
                "",
                Optional.empty(),
                Optional.empty());
        assertThat(both.bySignature()).extracting(ModelSource::name).containsExactly("net_en_code", "net_decode");
        assertThat(both.bySignature())
                .extracting(source -> source.shapes().signature())
                .containsExactly("en/code", "decode");
        ModelSource one = new ModelSource(Path.of("m.tflite"), "net", "");
        assertThat(one.bySignature()).containsExactly(one);
    }

    @Test
    void compositesAreTheirDecompositions() {
        int x = model.tensor(TensorSpec.float32("x", 2));
        int y = model.tensor(TensorSpec.float32("y", 2));
        int z = model.tensor(TensorSpec.float32("z", 2));
        model.operator(COMPOSITE, 1, composite(1), new int[] {x}, y)
                .operator(COMPOSITE, 1, composite(2), new int[] {y}, z)
                .inputs(x)
                .outputs(z);
        model.nextSubgraph();
        graph(BuiltinOperator.NEG);
        model.nextSubgraph();
        // A composite within a composite, whose result is an input of the outer one as well.
        int a = model.tensor(TensorSpec.float32("a", 2));
        int b = model.tensor(TensorSpec.float32("b", 2));
        int c = model.tensor(TensorSpec.float32("c", 2));
        model.operator(COMPOSITE, 1, composite(1), new int[] {a}, b)
                .operator(BuiltinOperator.SQUARED_DIFFERENCE, 1, Options.none(), new int[] {a, b}, c)
                .inputs(a)
                .outputs(c);
        Function function = read("");
        assertThat(function.functions()).isEmpty();
        assertThat(answer(function, 1, -3)).containsExactly(4, 36);
    }

    @Test
    void compositesWithoutADecompositionAreTold() {
        int x = model.tensor(TensorSpec.float32("x", 2));
        int y = model.tensor(TensorSpec.float32("y", 2));
        model.operator(COMPOSITE, 1, composite(0), new int[] {x}, y).inputs(x).outputs(y);
        assertThatThrownBy(() -> read("")).hasMessageContaining("the composite `own.function` has no decomposition");
    }

    @Test
    void compositesThatDoNotFitTheirSubgraphAreTold() {
        int x = model.tensor(TensorSpec.float32("x", 3));
        int y = model.tensor(TensorSpec.float32("y", 2));
        int z = model.tensor(TensorSpec.float32("z", 2));
        model.operator(COMPOSITE, 1, composite(1), new int[] {x}, y)
                .operator(COMPOSITE, 1, composite(7), new int[] {y}, z)
                .inputs(x)
                .outputs(z);
        model.nextSubgraph();
        graph(BuiltinOperator.NEG);
        assertThatThrownBy(() -> read(""))
                .hasMessageContaining("it is called with")
                .hasMessageContaining("subgraph #7 cannot be called");
    }

    @Test
    void compositesThatStandForThemselvesAreTold() {
        int x = model.tensor(TensorSpec.float32("x", 2));
        int y = model.tensor(TensorSpec.float32("y", 2));
        model.operator(COMPOSITE, 1, composite(1), new int[] {x}, y).inputs(x).outputs(y);
        model.nextSubgraph();
        int a = model.tensor(TensorSpec.float32("a", 2));
        int b = model.tensor(TensorSpec.float32("b", 2));
        model.operator(COMPOSITE, 1, composite(1), new int[] {a}, b).inputs(a).outputs(b);
        assertThatThrownBy(() -> read("")).hasMessageContaining("subgraph #1 calls itself");
    }
}
