// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelMetadata.OperatorInfo;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.reference.GoldenModels;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Somebody's code generator takes its operators; whatever it does wrong is one message that names it. */
class ForeignCodegenTest {
    /** Takes dense layers. */
    private record Npu(Function<ExternalFunction, ExternalCall> calls, Function<ExternalUnit, String> text)
            implements ExternalCodegen {
        @Override
        public String name() {
            return "my-npu";
        }

        @Override
        public List<CompositePattern> patterns(CompositeTarget.External external, Target host) {
            List<PatternStep> steps = List.of(
                    PatternStep.named("qnn.dense"),
                    PatternStep.named("nn.bias_add").orNone(),
                    PatternStep.named("tfl.requantize"));
            return List.of(new CompositePattern("my-npu.dense", steps, List.of()));
        }

        @Override
        public ExternalCall call(ExternalFunction function, CompositeTarget.External external, Target host) {
            return calls.apply(function);
        }

        @Override
        public List<Artifact> generate(ExternalUnit unit) {
            return List.of(Artifact.ofText("my-npu", ArtifactKind.SOURCE, unit.file() + ".c", text.apply(unit)));
        }
    }

    private static String symbols(ExternalUnit unit) {
        return String.join(
                "\n", unit.functions().stream().map(ExternalFunction::symbol).toList());
    }

    private static CompiledModel compile(Npu npu) {
        return ModelCompiler.compile(
                CompileRequest.builder(GoldenModels.model("hello_world_int8"), "my-npu -lanes=8, cmsis-nn, c")
                        .codegens(List.of(npu))
                        .build());
    }

    @Test
    void whoIsNamedFirstTakesFirst() {
        CompiledModel model =
                compile(new Npu(function -> new ExternalCall(List.of(), 100, "npu"), ForeignCodegenTest::symbols));
        assertThat(model.library().metadata().operators()).hasSize(3).allSatisfy(operator -> {
            assertThat(operator.choice().codegen().name()).isEqualTo("my-npu");
            assertThat(operator.choice().codegen().composite()).isEqualTo("my-npu.dense");
            assertThat(operator.workspaceBytes()).isEqualTo(100);
        });
        assertThat(model.library().metadata().operators())
                .extracting(OperatorInfo::schedule)
                .containsOnly("npu");
        assertThat(model.library().artifacts().of(ArtifactKind.SOURCE))
                .filteredOn(source -> source.codegenId().equals("my-npu"))
                .extracting(Artifact::fileName)
                .containsExactly("default_lib2.c");
    }

    @Test
    void whatItDoesWrongIsOneMessage() {
        ExternalCall good = ExternalCall.plain("npu");
        assertThatThrownBy(() -> compile(new Npu(
                        function -> {
                            throw new IllegalStateException("no lanes");
                        },
                        ForeignCodegenTest::symbols)))
                .hasMessageContaining("code generator my-npu: it could not take my-npu.dense (")
                .hasMessageContaining("no lanes");
        assertThatThrownBy(() -> compile(new Npu(function -> new ExternalCall(List.of(), -1, ""), unit -> "")))
                .hasMessageContaining("code generator my-npu: it asks for -1 bytes of context");
        assertThatThrownBy(() -> compile(new Npu(function -> good, unit -> "int x;")))
                .hasMessageContaining("code generator my-npu: it generated no function tvmgen_default_my_npu_main_0");
        assertThatThrownBy(() -> compile(new Npu(function -> good, unit -> {
                    throw new LinkageError("npu.so");
                })))
                .hasMessageContaining("code generator my-npu: it could not generate code")
                .hasMessageContaining("npu.so");
    }

    @Test
    void namesThatDoNotExistAndWrongOptionsAreRefused() {
        assertThatThrownBy(() -> CompileRequest.builder(GoldenModels.model("hello_world_int8"), "tpu, c")
                        .build())
                .hasMessageContaining("there is no code generator `tpu`")
                .hasMessageContaining("one of cmsis-nn");
        assertThatThrownBy(() -> CompileRequest.builder(
                                GoldenModels.model("hello_world_int8"), "cmsis-nn -mcpu=cortex-m4, c -mcpu=cortex-m55")
                        .build())
                .hasMessageContaining("cmsis-nn is for cortex-m4, and the rest is for cortex-m55");
        assertThatThrownBy(() -> CompileRequest.builder(
                                GoldenModels.model("hello_world_int8"), "cmsis-nn -version=3.0.0, c")
                        .build())
                .hasMessageContaining("the version of CMSIS-NN is `3.0.0`; expected 4.1.0 to 7.x");
    }
}
