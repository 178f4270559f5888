// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.flow.GestureProject;
import io.kiln.flow.export.SourceExport.SourceForm;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.ir.Function;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.quantize.FloatNet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Libraries of C sources: each keeps the rules of its build system, and its example proves the answers. */
class SourceExportTest {
    private static final String PASS = "PASS: 0 of 4 cases are wrong";
    private static final VerifySpec TWO_CASES = new VerifySpec(VerifyOn.NONE, Optional.empty(), 2, 7);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(SourceForm.class)
    void everyFormKeepsItsRulesAndItsExampleProvesTheAnswers(SourceForm form) throws IOException {
        Path library = export(twoModels().build(), form.text(), "1.2.0");
        assertThat(library)
                .isEqualTo(folder.resolve("out/export").resolve(form.text()).resolve("kiln_gesture_net"));
        assertThat(FormRules.broken(form, library)).isEmpty();
        assertThat(ran(example(form, library))).contains(PASS);
        form.archive()
                .ifPresent(name -> assertThat(library.resolveSibling(
                                name.replace("@NAME@", "kiln_gesture_net").replace("@VERSION@", "1.2.0")))
                        .isNotEmptyFile());
    }

    @Test
    void aMakefileBuildsTheLibraryAndTheProofCountsWrongAnswers() throws IOException {
        Path library = export(gesture().build(), "c", "");
        assertThat(run(library, "make", "CFLAGS=-O1 -Wall -Wextra -Werror", "check"))
                .contains("PASS: 0 of 2 cases are wrong");
        assertThat(library.resolve("build/libkiln_gesture.a")).isNotEmptyFile();
        Path proof = library.resolve("example/kiln_proof.c");
        String text = Files.readString(proof);
        int row = text.indexOf("0x", text.indexOf("gesture_output_0["));
        Files.writeString(proof, text.substring(0, row) + "0x7f ^ " + text.substring(row));
        ProcessResult wrong =
                ProcessRunner.run(Command.of("make", "CFLAGS=-O1", "check").in(library));
        assertThat(wrong.succeeded()).isFalse();
        assertThat(wrong.output()).contains("FAIL: 1 of 2 cases are wrong");
    }

    /** The C of a core with assembly of its own is complete as well. */
    @Test
    void theCodeOfABoardCompilesForItsCore() throws IOException {
        BuildSpec spec = SpecDraft.of(layout(), List.of(source()), "mps2-an386")
                .verify(TWO_CASES)
                .build();
        Path library = export(spec, "cmsis-pack", "");
        assertThat(Files.readString(library.resolve("Kiln.kiln_gesture.pdsc")))
                .contains("<require Dcore=\"Cortex-M4\"/>");
        assertThat(library.resolveSibling("Kiln.kiln_gesture.0.0.0.pack")).isNotEmptyFile();
        Path made = export(spec, "c", "");
        run(
                made,
                "make",
                "CC=arm-none-eabi-gcc",
                "AR=arm-none-eabi-ar",
                "CFLAGS=-O2 -Wall -Wextra -Werror -mcpu=cortex-m4 -mthumb");
        assertThat(made.resolve("build/libkiln_gesture.a")).isNotEmptyFile();
    }

    @Test
    void twoExportsAreEqual() throws IOException {
        Map<String, Bytes> first =
                files(export(gesture().build(), "arduino", "").getParent());
        assertThat(files(export(gesture().build(), "arduino", "").getParent())).isEqualTo(first);
        assertThat(first).containsKey("kiln_gesture-0.0.0.zip");
    }

    @Test
    void whatCannotBeExportedIsNamedAtOnce() {
        assertThatThrownBy(() -> export(gesture().build(), "keil", ""))
                .hasMessageContaining("kiln.export is 'keil'")
                .hasMessageContaining("one of library, c, cmake, zephyr, esp-idf, arduino, platformio, cmsis-pack");
        BuildSpec spec =
                gesture().target("llvm").executor(ExecutorKind.GRAPH, true).build();
        assertThatThrownBy(() -> export(spec, "zephyr", "v1"))
                .hasMessageContaining("the code is not C alone: the target is 'llvm'")
                .hasMessageContaining("has the typed interface of the ahead-of-time executor")
                .hasMessageContaining("'v1' is not a valid library version");
        BuildSpec none = SpecDraft.of(layout(), List.of(), "host").build();
        assertThatThrownBy(() -> export(none, "c", "")).hasMessageContaining("there is no model to export");
        BuildSpec unproven = gesture()
                .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                .build();
        assertThatThrownBy(() -> export(unproven, "c", "")).hasMessageContaining("there is no vector for the example");
        assertThat(folder.resolve("out/export")).doesNotExist();
    }

    /** The example of a form, compiled for this computer. */
    private Path example(SourceForm form, Path library) throws IOException {
        Path program = folder.resolve("program");
        Path proof = library.resolve(form.proof());
        Path main = folder.resolve("main.c");
        List<String> line = new ArrayList<>(List.of("-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"));
        line.add("-I" + library.resolve(form.headers()));
        line.add("-I" + proof);
        List<String> sources =
                new ArrayList<>(List.of(proof.resolve("kiln_proof.c").toString()));
        list(library.resolve(form.sources()))
                .filter(name -> name.endsWith(".c"))
                .forEach(sources::add);
        String compiler = "cc";
        switch (form) {
            case ARDUINO ->
                Files.writeString(folder.resolve("main.cpp"), ARDUINO.replace("@SKETCH@", proof + "/Proof.ino"));
            case PLATFORMIO -> Files.copy(proof.resolve("main.cpp"), folder.resolve("main.cpp"));
            case ESP_IDF -> {
                Files.writeString(main, "void app_main(void);\nint main(void) {\n  app_main();\n  return 0;\n}\n");
                sources.add(proof.resolve("main.c").toString());
            }
            default -> Files.copy(proof.resolve("main.c"), main);
        }
        for (String source : sources) {
            run(
                    folder,
                    Stream.of(List.of(compiler, "-std=gnu11", "-c", source), line)
                            .flatMap(List::stream)
                            .toArray(String[]::new));
        }
        List<String> link = new ArrayList<>(line);
        boolean isC = Files.exists(main);
        link.add(0, isC ? compiler : "c++");
        link.add(isC ? "main.c" : "main.cpp");
        list(folder).filter(name -> name.endsWith(".o")).forEach(link::add);
        link.addAll(List.of("-o", program.toString()));
        run(folder, link.toArray(String[]::new));
        return program;
    }

    /** Arduino's console and loop, as far as a sketch needs them. */
    private static final String ARDUINO = """
        #include <stdio.h>
        struct Console {
          void begin(long) {}
          operator bool() { return true; }
          void print(const char* text) { printf("%s", text); }
          void print(int value) { printf("%d", value); }
          void println(const char* text) { printf("%s\\n", text); }
        } Serial;
        #include "@SKETCH@"
        int main() {
          setup();
          loop();
        }
        """;

    private static Stream<String> list(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(Path::toString).sorted().toList().stream();
        }
    }

    private String ran(Path program) {
        return run(folder, program.toString());
    }

    private static String run(Path in, String... words) {
        ProcessResult result = ProcessRunner.run(
                Command.of(words[0], List.of(words).subList(1, words.length)).in(in));
        assertThat(result.succeeded())
                .as("%s: %s", String.join(" ", words), result.output())
                .isTrue();
        return result.output();
    }

    private static Map<String, Bytes> files(Path folder) throws IOException {
        Map<String, Bytes> files = new TreeMap<>();
        try (Stream<Path> walk = Files.walk(folder)) {
            for (Path file : walk.filter(Files::isRegularFile).toList()) {
                files.put(folder.relativize(file).toString(), Bytes.wrap(Files.readAllBytes(file)));
            }
        }
        return files;
    }

    private static Path export(BuildSpec spec, String kind, String version) {
        return SourceExport.of(Log.QUIET, spec, kind, version).run();
    }

    private SpecDraft gesture() {
        return SpecDraft.of(layout(), List.of(source()), "host").verify(TWO_CASES);
    }

    /** An integer model and a float one. */
    private SpecDraft twoModels() throws IOException {
        FloatNet net = new FloatNet(5);
        Function model = net.function(net.dense(net.input(1, 8), 3));
        RelayPrinter.Module text = RelayPrinter.withParameters(model);
        Path file = folder.resolve("net.relay");
        Files.writeString(file, text.text());
        Files.write(
                folder.resolve("net.params"),
                ParameterFile.write(text.parameters()).toArray());
        return SpecDraft.of(layout(), List.of(source(), new ModelSource(file, "net")), "host")
                .verify(TWO_CASES);
    }

    private Layout layout() {
        return new Layout(folder, folder.resolve("out"), "gesture");
    }

    private static ModelSource source() {
        return new ModelSource(GestureProject.MODEL, "gesture");
    }
}
