// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
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
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.reference.Interpreter;
import io.kiln.target.TestTargets;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchain.ClangObjects;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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

    /** A subgraph that adds 64 constants to as many inputs. */
    private void weighted(int builtin, TensorSpec weights) {
        int x = model.tensor(TensorSpec.float32("x", 64));
        int w = model.tensor(weights);
        int y = model.tensor(TensorSpec.float32("y", 64));
        model.operator(builtin, 1, Options.none(), new int[] {x, w}, y)
                .inputs(x)
                .outputs(y);
    }

    @ParameterizedTest
    @ValueSource(strings = {"c", "llvm"})
    void aProgramKeepsWeightsOfSeveralSignaturesOnce(String target) throws IOException {
        ClangObjects clang = ClangObjects.of("llvm", Optimize.SPEED, List.of(), TestToolchains.environment(Log.QUIET));
        float[] values = new float[64];
        for (int i = 0; i < values.length; i++) {
            values[i] = i * i + 0.5f;
        }
        byte[] data = LittleEndian.ofFloats(values);
        weighted(BuiltinOperator.SQUARED_DIFFERENCE, TensorSpec.float32("w", 64).withData(data));
        model.key("encode").nextSubgraph();
        weighted(BuiltinOperator.MAXIMUM, TensorSpec.float32("w", 64).withData(data));
        model.key("decode");
        Path file = Files.write(folder.resolve("m.tflite"), model.build());
        List<String> line = new ArrayList<>(List.of("-Os", "-fdata-sections", "-Wl,--gc-sections", "main.c"));
        for (String key : List.of("encode", "decode")) {
            CompiledModel compiled = ModelCompiler.compile(RequestDraft.of(file, target)
                    .name("m_" + key)
                    .inputShapes(InputShapes.NONE.ofSignature(key))
                    .objects(Optional.of(clang))
                    .build());
            for (Artifact artifact : compiled.library().artifacts().artifacts()) {
                Files.write(
                        folder.resolve(artifact.fileName()), artifact.content().toArray());
                if (artifact.kind() == ArtifactKind.SOURCE || artifact.kind() == ArtifactKind.OBJECT) {
                    line.add(artifact.fileName());
                }
            }
        }
        Files.writeString(folder.resolve("main.c"), """
                #include "tvmgen_m_decode.h"
                #include "tvmgen_m_encode.h"
                static float x[64], a[64], b[64];
                int main(void) {
                  struct tvmgen_m_encode_inputs encode = {x};
                  struct tvmgen_m_encode_outputs encoded = {a};
                  struct tvmgen_m_decode_inputs decode = {x};
                  struct tvmgen_m_decode_outputs decoded = {b};
                  return tvmgen_m_encode_run(&encode, &encoded) || tvmgen_m_decode_run(&decode, &decoded) || a[2] != 20.25f || b[3] != 9.5f;
                }
                """);
        line.addAll(List.of("-o", "program"));
        ProcessResult made = ProcessRunner.run(Command.of("cc", line).in(folder));
        assertThat(made.exitCode()).as(made.message()).isZero();
        assertThat(ProcessRunner.run(Command.of("./program", List.of()).in(folder))
                        .exitCode())
                .isZero();
        String program = new String(Files.readAllBytes(folder.resolve("program")), StandardCharsets.ISO_8859_1);
        String weights = new String(data, StandardCharsets.ISO_8859_1);
        assertThat(program.indexOf(weights)).isPositive().isEqualTo(program.lastIndexOf(weights));
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
