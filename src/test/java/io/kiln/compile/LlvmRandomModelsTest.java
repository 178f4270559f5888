// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.codegen.c.CalledC;
import io.kiln.codegen.llvm.IrModule;
import io.kiln.draw.RandomOperators;
import io.kiln.draw.RandomResiduals;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import io.kiln.tir.Buffer;
import io.kiln.tir.PrimFunc;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchain.ClangObjects;
import io.kiln.transform.RandomNets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random models on this machine, their operators as LLVM IR, against the reference interpreter. All are functions of one module, which clang
 * optimises as a whole.
 */
class LlvmRandomModelsTest {
    private static final int OPERATORS = 24;
    private static final int NETS = 4;

    @TempDir
    private Path folder;

    private final List<ModelMetadata> models = new ArrayList<>();
    private final List<List<Artifact>> artifacts = new ArrayList<>();
    private final List<PrimFunc> functions = new ArrayList<>();
    private final List<Buffer> statics = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(strings = {TestTargets.HOST, TestTargets.M4, TestTargets.M55, TestTargets.RV32})
    void answerAsTheInterpreterDoes(String target) {
        List<Function> drawn = Stream.of(
                        LongStream.range(20_000, 20_000 + OPERATORS).mapToObj(RandomOperators::mixed),
                        LongStream.range(30_000, 30_000 + NETS).mapToObj(RandomNets::next),
                        LongStream.range(40_000, 40_000 + NETS).mapToObj(RandomResiduals::next))
                .flatMap(models -> models)
                .toList();
        List<Bytes> inputs = new ArrayList<>();
        List<Bytes> expected = new ArrayList<>();
        for (Function function : drawn) {
            List<Bytes> own = new ArrayList<>();
            for (Parameter parameter : function.params()) {
                own.add(RandomOperators.input(parameter.type(), inputs.size() * 31L + own.size()));
            }
            inputs.addAll(own);
            expected.addAll(Interpreter.run(function, own));
            add(target, "m" + models.size(), function);
        }
        addObject(target);
        assertAnswers(HostProgram.build(folder, models, artifacts).run(inputs), expected);
    }

    /** The entry point stays C. */
    private void add(String target, String name, Function function) {
        CompiledModel compiled = ModelCompiler.compile(
                RequestDraft.of(Path.of("random"), target).name(name).build(), function);
        models.add(compiled.library().metadata());
        functions.addAll(compiled.code().functions());
        statics.addAll(compiled.code().statics());
        artifacts.add(new ArrayList<>(compiled.library().artifacts().artifacts().stream()
                .filter(file -> !file.fileName().endsWith("_lib1.c"))
                .toList()));
    }

    private void addObject(String target) {
        CodeOrigin origin = new CodeOrigin("random", Target.parse(target.replaceFirst("^c", "llvm")));
        String module = IrModule.print(new CodeUnit(origin, "all", statics, functions), Optimize.SPEED);
        Bytes object = ClangObjects.of("llvm", Optimize.SPEED, List.of(), TestToolchains.environment(Log.QUIET))
                .compileModule("all.o", module, CalledC.print(functions, origin));
        artifacts.get(0).add(Artifact.of("llvm", ArtifactKind.OBJECT, "all.o", object));
    }

    private void assertAnswers(Bytes actual, List<Bytes> expected) {
        int offset = 0;
        int next = 0;
        for (ModelMetadata model : models) {
            for (TensorType output : GoldenModels.outputs(model)) {
                Bytes result = expected.get(next++);
                byte[] slice = new byte[result.size()];
                actual.buffer().get(offset, slice);
                offset += slice.length;
                assertThat(GoldenModels.agree(result, Bytes.wrap(slice), List.of(output)))
                        .as("%s %s", model.name(), model.operators())
                        .isTrue();
            }
        }
        assertThat(actual.size()).isEqualTo(offset);
    }
}
