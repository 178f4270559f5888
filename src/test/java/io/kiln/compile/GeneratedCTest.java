// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.draw.RandomOperators;
import io.kiln.draw.RandomResiduals;
import io.kiln.frontend.InputShapes;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import io.kiln.reference.OwnModel;
import io.kiln.target.TestTargets;
import io.kiln.transform.PassOptions;
import io.kiln.transform.PassOptionsTest;
import io.kiln.transform.RandomFloatNets;
import io.kiln.transform.RandomNets;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Generated C on this machine under sanitizers, against golden answers and the reference interpreter. */
class GeneratedCTest {
    private static final String TARGET = TestTargets.HOST;
    private static final String DSP = TestTargets.M4;
    private static final String MVE = TestTargets.M55;

    /** Cores whose schedules use micro-kernels; their portable twins run here. */
    private static final List<String> TARGETS =
            List.of(TARGET, DSP, MVE, TestTargets.M3, TestTargets.M0, TestTargets.RV32);

    private static final int RANDOM_OPERATORS = 40;
    private static final int RANDOM_NETS = 16;
    private static final int FLOAT_NETS = 6;
    private static final long FIRST_SEED = Long.getLong("kiln.seed", 10_000);

    @TempDir
    private Path folder;

    static Stream<Arguments> bareModels() {
        return Stream.of(
                Arguments.of(OwnModel.KEYWORDS, DSP),
                Arguments.of(OwnModel.RESIDUAL, TARGET),
                Arguments.of(OwnModel.RECURRENT, DSP),
                Arguments.of(OwnModel.WIDE_CONV, TARGET));
    }

    @ParameterizedTest
    @MethodSource("bareModels")
    void modelsAnswerTheSameWithoutPassesAndFusion(OwnModel model, String target) throws IOException {
        PassOptions options = new PassOptions(1, PassOptionsTest.optional());
        GoldenAnswers.check(folder, List.of(model.folder()), target, request -> request.passes(options));
    }

    /** All passes left out that can be, nothing fused. */
    private static CompileRequest bare(Path source, String name, String target, Io io) {
        PassOptions options = new PassOptions(1, PassOptionsTest.optional());
        return RequestDraft.of(source, target).name(name).io(io).passes(options).build();
    }

    @Test
    void aBatchOfTwoAnswersAsTwoRuns() throws IOException {
        Path source = OwnModel.KEYWORDS.folder().resolve("model.tflite");
        CompiledModel compiled = ModelCompiler.compile(RequestDraft.of(source, TARGETS.get(1))
                .name("own")
                .inputShapes(InputShapes.parse("input_1:2,49,10,1"))
                .build());
        HostProgram program = HostProgram.build(
                folder,
                List.of(compiled.library().metadata()),
                List.of(compiled.library().artifacts().artifacts()));
        assertThat(program.run(List.of(both(source, "input_0.bin", "input_1.bin"))))
                .isEqualTo(both(source, "output_0.bin", "output_1.bin"));
    }

    private static Bytes both(Path beside, String first, String second) throws IOException {
        ByteArrayOutputStream both = new ByteArrayOutputStream();
        both.writeBytes(Files.readAllBytes(beside.resolveSibling(first)));
        both.writeBytes(Files.readAllBytes(beside.resolveSibling(second)));
        return Bytes.wrap(both.toByteArray());
    }

    @ParameterizedTest
    @MethodSource("ios")
    void randomOperatorsAnswerAsTheInterpreterDoes(Io io, String target) {
        answerAsTheInterpreterDoes(io, target, Optimize.SPEED, RANDOM_OPERATORS, RandomOperators::mixed);
    }

    @ParameterizedTest
    @MethodSource("ios")
    void randomNetsAnswerAsTheInterpreterDoes(Io io, String target) {
        answerAsTheInterpreterDoes(io, target, Optimize.SPEED, RANDOM_NETS + FLOAT_NETS, GeneratedCTest::net);
    }

    /** Rows in rings, outputs over the inputs they consume, pools that accumulate: in a workspace of just the planned size. */
    @ParameterizedTest
    @MethodSource("ios")
    void randomResidualsAnswerAsTheInterpreterDoesWhenRowsAreStreamed(Io io, String target) {
        answerAsTheInterpreterDoes(io, target, Optimize.RAM, RANDOM_NETS, RandomResiduals::next);
    }

    @Test
    void randomNetsWithoutPassesAndFusionAnswerAsTheInterpreterDoes() {
        answerAsTheInterpreterDoes(
                RANDOM_NETS + FLOAT_NETS, GeneratedCTest::net, name -> bare(Path.of("random"), name, DSP, Io.CALLER));
    }

    @Test
    void randomOperatorsWithoutPassesAndFusionAnswerAsTheInterpreterDoes() {
        answerAsTheInterpreterDoes(
                RANDOM_OPERATORS, RandomOperators::next, name -> bare(Path.of("random"), name, TARGET, Io.WORKSPACE));
    }

    /** The last ones are of floats, which differ by rounding where a schedule adds in another order. */
    private static Function net(long seed) {
        return seed < FIRST_SEED + RANDOM_NETS ? RandomNets.next(seed) : RandomFloatNets.next(seed);
    }

    private void answerAsTheInterpreterDoes(
            Io io, String target, Optimize optimize, int count, LongFunction<Function> bySeed) {
        answerAsTheInterpreterDoes(
                count,
                bySeed,
                name -> RequestDraft.of(Path.of("random"), target)
                        .name(name)
                        .io(io)
                        .optimize(optimize)
                        .build());
    }

    private void answerAsTheInterpreterDoes(
            int count, LongFunction<Function> bySeed, java.util.function.Function<String, CompileRequest> byName) {
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        List<List<Bytes>> expected = new ArrayList<>();
        for (long seed = 0; seed < count; seed++) {
            Function function = bySeed.apply(FIRST_SEED + seed);
            CompiledModel compiled = ModelCompiler.compile(byName.apply(function.name()), function);
            List<Bytes> own = new ArrayList<>();
            for (Parameter parameter : function.params()) {
                own.add(RandomOperators.input(parameter.type(), seed * 31 + own.size()));
            }
            inputs.addAll(own);
            expected.add(Interpreter.run(function, own));
            models.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
        }
        Bytes actual = HostProgram.build(folder, models, artifacts).run(inputs);
        int offset = 0;
        for (int i = 0; i < count; i++) {
            List<TensorType> outputs = GoldenModels.outputs(models.get(i));
            for (int k = 0; k < outputs.size(); k++) {
                Bytes result = expected.get(i).get(k);
                byte[] slice = new byte[result.size()];
                actual.buffer().get(offset, slice);
                offset += slice.length;
                assertThat(GoldenModels.agree(result, Bytes.wrap(slice), outputs.subList(k, k + 1)))
                        .as(
                                "%s %s",
                                models.get(i).name(),
                                models.get(i).operators().get(0).op())
                        .isTrue();
            }
        }
        assertThat(actual.size()).isEqualTo(offset);
    }

    static Stream<Arguments> ios() {
        return Stream.concat(
                TARGETS.stream().map(t -> Arguments.of(Io.CALLER, t)), Stream.of(Arguments.of(Io.WORKSPACE, TARGET)));
    }

    @Test
    void compilingTwiceGivesTheSameBytes() {
        for (long seed = 0; seed < 20; seed++) {
            Function function = RandomOperators.next(seed);
            CompileRequest request = RequestDraft.of(Path.of("random"), TARGET)
                    .name(function.name())
                    .build();
            assertThat(ModelCompiler.compile(request, function).library())
                    .isEqualTo(ModelCompiler.compile(request, RandomOperators.next(seed))
                            .library());
        }
    }
}
