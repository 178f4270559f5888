// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.Convention;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.draw.RandomOperators;
import io.kiln.executor.PlannedModule.PackedOptions;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.reference.Interpreter;
import io.kiln.reference.OwnModel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Functions with the packed signature: found by name, bit-exact, and what they say of wrong arguments. */
final class PackedCTest {
    private static final String TARGET = "c -keys=cpu -model=host";
    private static final List<OwnModel> MODELS = List.of(OwnModel.KEYWORDS, OwnModel.CODER, OwnModel.SINE);
    private static final List<Convention> PACKED = List.of(Convention.PACKED, Convention.PACKED_ENTRY);

    @TempDir
    private Path folder;

    @Test
    void modelsInOneSystemLibraryAnswerBitExact() throws IOException {
        List<ModelLibrary> models = new ArrayList<>();
        ByteArrayOutputStream inputs = new ByteArrayOutputStream();
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        for (OwnModel own : MODELS) {
            for (Convention convention : PACKED) {
                // Rows of one operator at a time, so that operators take integers, too.
                models.add(ModelCompiler.compile(request(own.model(), own.id() + "_" + convention, convention)
                                .optimize(Optimize.RAM)
                                .build())
                        .library());
                inputs.writeBytes(own.input(0).toArray());
                byte[] answer = own.output(0).toArray();
                expected.write(answer);
                expected.write(answer);
            }
        }
        List<ModelLibrary> shared = SystemLibrary.shared(models);
        PackedHost.build(folder, shared, "registry.c", List.of());
        Files.write(folder.resolve("in.bin"), inputs.toByteArray());

        List<String> functions = models.stream()
                .flatMap(model -> model.metadata().api().functions().stream())
                .toList();
        assertThat(PackedHost.run(folder, "in.bin", "out.bin")).isEqualTo(functions);
        assertThat(Files.readAllBytes(folder.resolve("out.bin"))).isEqualTo(expected.toByteArray());
    }

    @ParameterizedTest
    @EnumSource(value = Convention.class, mode = Mode.EXCLUDE, names = "TYPED")
    void withoutChecksAnswersAreTheSame(Convention convention) throws IOException {
        Path model = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");
        CompiledModel compiled = ModelCompiler.compile(request(model, "m", convention)
                .packed(new PackedOptions(true, false))
                .build());
        assertThat(text(compiled.library()))
                .doesNotContain("kiln_check", "TVMAPISetLastError", "malloc", "float", "double");
        PackedHost.build(folder, List.of(compiled.library()), "registry.c", List.of("-Wno-unused-parameter"));

        List<Bytes> inputs = new ArrayList<>();
        for (Parameter parameter : compiled.imported().params()) {
            inputs.add(RandomOperators.input(parameter.type(), 7));
        }
        Files.write(folder.resolve("in.bin"), inputs.get(0).toArray());
        byte[] answer = Interpreter.run(compiled.imported(), inputs).get(0).toArray();
        PackedHost.run(folder, "in.bin", "out.bin");
        ByteArrayOutputStream twice = new ByteArrayOutputStream();
        twice.write(answer);
        twice.write(answer);
        assertThat(Files.readAllBytes(folder.resolve("out.bin"))).isEqualTo(twice.toByteArray());
    }

    @Test
    void wrongArgumentsAreNamedInTheOrderOfTvm() {
        CompiledModel compiled = ModelCompiler.compile(
                request(Path.of("m.relay"), "m", Convention.PACKED).build(), negation());
        ModelLibrary model = compiled.library();
        String operator = model.metadata().operators().get(0).name();
        String main = new InterfaceNames("m").main();
        assertThat(model.metadata().api().functions())
                .containsExactly("tvmgen_m_run", operator, main, "tvmgen_m_get_c_metadata");
        PackedHost.build(folder, List.of(model), "messages.c", List.of("-DMAIN=" + main, "-DOPERATOR=" + operator));

        String output = model.metadata().outputs().get(0).cName();
        List<String> expected = new ArrayList<>();
        // The entry point checks only what it reads itself; then the main function has its say.
        expected.addAll(messages("tvmgen_m_run", main, "x", output));
        expected.addAll(messages(main, main, "x", output));
        expected.addAll(messages(operator, operator, "input", "output"));
        assertThat(PackedHost.run(folder)).isEqualTo(expected);
    }

    /** What TVM's functions say (packed.md lists it), case by case as in messages.c. */
    private static List<String> messages(String first, String f, String x, String y) {
        String argument = "Argument " + f + ".";
        String constraint = " has an unsatisfied constraint: ";
        return Stream.of(
                        "",
                        first + ": num_args should be 2",
                        first + ": num_args should be 2",
                        first + ": TVMValue* arg pointer was NULL",
                        first + ": int* type_codes was NULL",
                        f + ": Expect arg[1] to be pointer",
                        f + ": Expect arg[0] to be pointer",
                        f + "." + x + " is expected to have non-NULL DLTensor* pointer",
                        f + "." + x + ".ndim is expected to equal 3",
                        f + "." + x + ".dtype is expected to be int32",
                        f + "." + y + ".dtype is expected to be int32",
                        f + "." + y + ".dtype is expected to be int32",
                        argument + x + ".shape[2]" + constraint + "3 == " + x + ".shape[2]",
                        "",
                        f + "." + x + ".strides: expected to be compact array",
                        argument + y + ".byte_offset" + constraint + "0 == " + y + ".byte_offset",
                        argument + x + ".device_type" + constraint + "1 == " + x + ".device_type",
                        f + "." + y + " is expected to have non-NULL data pointer",
                        argument + y + ".data" + constraint + "0 == " + y + ".data modulo 4",
                        "")
                .map(message -> (message.isEmpty() ? "0 " : "-1 ") + message)
                .toList();
    }

    @Test
    void integersStayWithinTheRows() {
        Path model = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");
        String text = text(ModelCompiler.compile(request(model, "m", Convention.PACKED)
                        .optimize(Optimize.RAM)
                        .build())
                .library());
        assertThat(text).contains("\"row_begin\", \"row_end\"").containsPattern("\\d, 2, 0,\\s+[1-9]\\d*,\\s+};");
    }

    @Test
    void aSystemLibraryIsMadeOnRequestOnly() {
        RequestDraft request = request(Path.of("m.relay"), "m", Convention.PACKED_ENTRY);
        ModelLibrary without = ModelCompiler.compile(
                        request.packed(new PackedOptions(false, true)).build(), negation())
                .library();
        assertThat(text(without)).doesNotContain("TVMSystemLibEntryPoint");
        assertThat(without.artifacts().of(ArtifactKind.HEADER)).isEmpty();
        assertThat(without.artifacts().of(ArtifactKind.SOURCE))
                .extracting(Artifact::fileName)
                .containsExactly("m_lib0.c", "m_lib1.c", "m_lib2.c");
        assertThat(text(SystemLibrary.shared(List.of(without)).get(0))).contains("TVMSystemLibEntryPoint");
    }

    /** TVM's graphs of one operator have a function of this name each, beside their system library. */
    @Test
    void functionsOfOneNameInSeveralArchivesAreKeptApart() {
        String text = """
            int32_t __tvm_main__(void) { return 0; }
            const TVMModule* TVMSystemLibEntryPoint(void) { return 0; }
            """;
        List<ModelLibrary> models = Stream.of("a", "b")
                .map(name -> {
                    ModelLibrary model = ModelCompiler.compile(
                                    request(Path.of(name + ".relay"), name, Convention.PACKED)
                                            .build(),
                                    negation())
                            .library();
                    Artifact source = Artifact.ofText("c", ArtifactKind.SOURCE, name + "_entry.c", text);
                    return new ModelLibrary(model.metadata(), model.artifacts().with(List.of(source)), model.origin());
                })
                .toList();
        assertThat(SystemLibrary.united(models, true).get(1).artifacts().artifacts())
                .extracting(Artifact::text)
                .containsExactly("#define TVMSystemLibEntryPoint tvmgen_b_TVMSystemLibEntryPoint\n"
                        + "#define __tvm_main__ tvmgen_b_entry\n" + text);
    }

    @Test
    void onlyTheCombinationsOfTvmsCRuntimeAreThere() {
        assertThat(Convention.of("c", true)).isEqualTo(Convention.TYPED);
        assertThat(Convention.of("packed", true)).isEqualTo(Convention.PACKED_ENTRY);
        assertThat(Convention.of("packed", false)).isEqualTo(Convention.PACKED);
        assertThatThrownBy(() -> Convention.of("c", false))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.unpackedApi is false with kiln.interfaceApi c")
                .hasMessageContaining("Set kiln.interfaceApi to packed");
        assertThatThrownBy(() -> Convention.of("C++", true)).hasMessageContaining("one of c, packed");
        RequestDraft request =
                request(Path.of("m.relay"), "m", Convention.PACKED).io(Io.WORKSPACE);
        assertThatThrownBy(request::build)
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.io is workspace with kiln.interfaceApi packed");
    }

    private static RequestDraft request(Path model, String name, Convention convention) {
        return RequestDraft.of(model, TARGET)
                .name(name)
                .convention(convention)
                .packed(new PackedOptions(name.equals("m"), true));
    }

    private static String text(ModelLibrary library) {
        return library.artifacts().of(ArtifactKind.SOURCE).stream()
                .map(Artifact::text)
                .collect(Collectors.joining());
    }

    private static Function negation() {
        String text = """
            def @main(%x: Tensor[(2, 1, 3), int32]) {
              nn.relu(%x)
            }
            """;
        return RelayFrontend.read(Bytes.ofText(text), "m.relay", Optional.empty(), "m.params", "m");
    }
}
