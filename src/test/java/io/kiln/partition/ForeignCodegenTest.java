// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.ir.op.Op;
import io.kiln.reference.OwnModel;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    /** Takes what each function is called with, beside a context. */
    private static String functions(ExternalUnit unit) {
        return functions(unit, ", uint8_t* context_");
    }

    private static String functions(ExternalUnit unit, String more) {
        return unit.functions().stream()
                .map(function ->
                        "int32_t " + function.symbol() + "(const int8_t*in, int8_t * const out" + more + ")\n{}\n")
                .collect(Collectors.joining());
    }

    private static CompiledModel compile(Npu npu) {
        return ModelCompiler.compile(RequestDraft.of(OwnModel.SINE.model(), "my-npu -lanes=8, cmsis-nn, c")
                .codegens(List.of(npu))
                .build());
    }

    @Test
    void whoIsNamedFirstTakesFirst() {
        CompiledModel model =
                compile(new Npu(function -> new ExternalCall(List.of(), 100, "npu"), ForeignCodegenTest::functions));
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
                        ForeignCodegenTest::functions)))
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
    void whatItReturnsWrongIsOneMessage() {
        ExternalCall good = ExternalCall.plain("npu");
        assertThatThrownBy(() -> compile(new Npu(function -> good, unit -> functions(unit, ", int32_t lanes"))))
                .hasMessage("code generator my-npu: it generated tvmgen_default_my_npu_main_0(const int8_t*, int8_t*,"
                        + " int32_t lanes) in default_lib2.c; expected (const int8_t*, int8_t*), which it is"
                        + " called with. Report this to its maker, or take it out of kiln.target.");
        assertThatThrownBy(() -> compile(new Npu(function -> table("a b", 4), unit -> "")))
                .hasMessageContaining(
                        "code generator my-npu: it names a table of my-npu.dense `a b`; expected a C name");
        assertThatThrownBy(() -> compile(new Npu(function -> table("input", 4), unit -> "")))
                .hasMessageContaining("code generator my-npu: it names a table of my-npu.dense `input`, "
                        + "as the parameter of a tensor, the context or the device is named");
        assertThatThrownBy(() -> compile(new Npu(function -> table("filter", 7), unit -> "")))
                .hasMessageContaining(
                        "gives the table `filter` of my-npu.dense 7 bytes, which are not whole elements of type int32");
        assertThatThrownBy(() -> compile(new Npu(function -> null, unit -> "")))
                .hasMessageContaining("code generator my-npu: it could not take my-npu.dense (")
                .hasMessageContaining("it answered null");
        assertThatThrownBy(() -> compile(new Npu(
                        function -> new ExternalCall(List.of(new ExternalCall.Table(null, null, null)), 0, null),
                        unit -> "")))
                .hasMessageContaining("code generator my-npu: it could not take my-npu.dense (")
                .hasMessageContaining("the name of a table");
        assertThatThrownBy(() -> compile(new Npu(
                        function -> {
                            throw new AssertionError("lanes");
                        },
                        unit -> "")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("code generator my-npu: it could not take my-npu.dense (");
        assertThatThrownBy(() -> compile(new Npu(
                        function -> {
                            throw new KilnException(
                                    Failure.EXTENSION.problem("only 8 lanes", "dense", "16", "Buy more"));
                        },
                        unit -> "")))
                .hasMessageContaining("code generator my-npu, dense: it could not take my-npu.dense (")
                .hasMessageContaining("only 8 lanes; expected 16. Buy more.");
    }

    @Test
    void filesThatAreNotItsOwnAreRefused() {
        assertThat(problem(file("c", "default_lib2.c", Artifact.HOST)))
                .contains("says that `c` generated its file default_lib2.c");
        assertThat(problem(file("my-npu", "default_lib1.c", Artifact.HOST)))
                .contains("named a file default_lib1.c, as Kiln names its own; expected default_lib2 or a name of its"
                        + " own");
        assertThat(problem(file("my-npu", "tvmgen_default.h", "my-npu")))
                .contains("named a file tvmgen_default.h, as Kiln names its own; expected default_lib2 or a name of its"
                        + " own");
        assertThat(problem(file("my-npu", "npu.c", "fpga")))
                .contains("made npu.c for the target key `fpga`; expected host or my-npu");
        assertThat(problem(file("my-npu", "npu.h", "my-npu"))).isEmpty();
    }

    private static Optional<String> problem(Artifact file) {
        CompositeTarget target = CompositeTarget.parse("my-npu, c");
        ExternalUnit unit = new ExternalUnit(
                "m.tflite", "default_lib2", List.of(), target.externals().get(0), target.host());
        return GuardedCodegen.filesProblem(List.of(file), unit, function -> ExternalCall.plain("npu"));
    }

    private static Artifact file(String codegen, String name, String key) {
        return new Artifact(codegen, Artifact.NATIVE, name, Bytes.ofText(""), key);
    }

    private static ExternalCall table(String name, int bytes) {
        return new ExternalCall(
                List.of(new ExternalCall.Table(name, DType.INT32, Bytes.wrap(new byte[bytes]))), 0, "npu");
    }

    /** What its patterns do wrong. */
    private record Careless(String called, String pattern, Predicate<Op> accepts, Predicate<Match> holds)
            implements ExternalCodegen {
        @Override
        public String name() {
            return called;
        }

        @Override
        public List<CompositePattern> patterns(CompositeTarget.External external, Target host) {
            List<Condition> conditions = List.of(new Condition("it does not hold", holds));
            return List.of(
                    new CompositePattern(pattern, List.of(new PatternStep("qnn.dense", accepts, false)), conditions));
        }

        @Override
        public ExternalCall call(ExternalFunction function, CompositeTarget.External external, Target host) {
            return ExternalCall.plain("npu");
        }

        @Override
        public List<Artifact> generate(ExternalUnit unit) {
            return List.of();
        }
    }

    private static ThrowingCallable compiling(Careless codegen) {
        return () -> ModelCompiler.compile(RequestDraft.of(OwnModel.SINE.model(), "careless, c")
                .codegens(List.of(codegen))
                .build());
    }

    @Test
    void patternsThatFailAreNamed() {
        assertThatThrownBy(compiling(new Careless("careless", "other.dense", op -> true, match -> true)))
                .hasMessageContaining(
                        "code generator careless: it named a pattern `other.dense`; expected careless.<what>");
        assertThatThrownBy(compiling(new Careless(
                        "careless",
                        "careless.dense",
                        op -> {
                            throw new ClassCastException("not a dense layer");
                        },
                        match -> true)))
                .hasMessageContaining("code generator careless: it could not compare operators with careless.dense: ")
                .hasMessageContaining("not a dense layer");
        assertThatThrownBy(compiling(new Careless(
                        "careless",
                        "careless.dense",
                        op -> true,
                        match -> match.root().args().size() > 0 && match.root().constant(0) == null)))
                .hasMessageContaining("code generator careless: it could not compare operators with careless.dense (");
        assertThatThrownBy(compiling(new Careless("careless", null, op -> true, match -> true)))
                .hasMessageContaining("code generator careless: it could not state its patterns: ")
                .hasMessageContaining("the name of a pattern");
        assertThatThrownBy(compiling(new Careless("cmsis-nn", "cmsis-nn.dense", op -> true, match -> true)))
                .hasMessageContaining("code generator " + Careless.class.getName()
                        + ": it has the name of io.kiln.partition.cmsisnn.CmsisNnCodegen, `cmsis-nn`");
        assertThatThrownBy(compiling(new Careless(null, "careless.dense", op -> true, match -> true)))
                .hasMessageContaining("it could not state its name: it answered null")
                .hasMessageContaining("code generator " + Careless.class.getName());
    }

    @Test
    void aServiceThatCannotBeMadeIsNamed(@TempDir Path folder) throws IOException {
        Path services = folder.resolve("META-INF/services/" + ExternalCodegen.class.getName());
        Files.createDirectories(services.getParent());
        for (String broken : List.of("com.acme.Missing", Npu.class.getName())) {
            Files.writeString(services, broken + "\n");
            try (URLClassLoader loader =
                    new URLClassLoader(new URL[] {folder.toUri().toURL()}, ExternalCodegen.class.getClassLoader())) {
                assertThatThrownBy(() -> Externals.of(CompositeTarget.parse("my-npu, c"), List.of(), loader))
                        .isInstanceOf(KilnException.class)
                        .hasMessageContaining("code generator that is a service of " + ExternalCodegen.class.getName()
                                + ": it could not be loaded")
                        .hasMessageContaining(broken);
            }
        }
    }

    @Test
    void namesThatDoNotExistAndWrongOptionsAreRefused() {
        assertThatThrownBy(
                        () -> RequestDraft.of(OwnModel.SINE.model(), "tpu, c").build())
                .hasMessageContaining("there is no code generator `tpu`")
                .hasMessageContaining("one of cmsis-nn");
        assertThatThrownBy(() -> RequestDraft.of(OwnModel.SINE.model(), "cmsis-nn -mcpu=cortex-m4, c -mcpu=cortex-m55")
                        .build())
                .hasMessageContaining("cmsis-nn is for cortex-m4, and the rest is for cortex-m55");
        assertThatThrownBy(() -> RequestDraft.of(OwnModel.SINE.model(), "cmsis-nn -version=3.0.0, c")
                        .build())
                .hasMessageContaining("the version of CMSIS-NN is `3.0.0`; expected 4.1.0 to 7.x");
    }
}
