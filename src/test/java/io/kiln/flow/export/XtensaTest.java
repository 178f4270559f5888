// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.flow.GestureProject;
import io.kiln.flow.export.SourceExport.SourceForm;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The C of exported components compiled with Debian's compiler for the ESP8266's core (lx106, ABI call0) and run on that core in QEMU, which stops at
 * an access that is not aligned. The ESP32's cores have another ABI (windowed registers), for which Debian has no compiler.
 */
final class XtensaTest {
    private static final Path START = Path.of("src/test/resources/xtensa").toAbsolutePath();

    /** Only its compiler's own folders are searched by default. */
    private static final String C_LIBRARY = "--specs=/usr/lib/xtensa-lx106-elf/picolibc.specs";

    @TempDir
    private Path folder;

    @Test
    void aModelOfConvolutionsAnswersAsItsVectorsSay() throws IOException {
        TestPrograms.need("xtensa-lx106-elf-gcc", "qemu-system-xtensa");
        assertThat(answers(GestureProject.MODEL, "gesture", GestureProject.VECTORS))
                .matches("PASS: 0 of [1-9] cases are wrong\n");
    }

    static List<String> golden() {
        return "all".equals(System.getProperty("kiln.golden")) ? GoldenModels.INTEGER : List.of("kws_ref_model");
    }

    @ParameterizedTest
    @MethodSource("golden")
    @NeedsShared("golden")
    void goldenModelsAnswerBitForBit(String model) throws IOException {
        TestPrograms.need("xtensa-lx106-elf-gcc", "qemu-system-xtensa");
        assertThat(answers(GoldenModels.model(model), model.toLowerCase(Locale.ROOT), GoldenModels.folder(model)))
                .matches("PASS: 0 of [1-9] cases are wrong\n");
    }

    /** What the example says that is in the component. */
    private String answers(Path model, String name, Path vectors) throws IOException {
        Layout layout = new Layout(folder, folder.resolve("out"), name);
        Path library = SourceExport.of(
                        Log.QUIET,
                        SpecDraft.of(layout, List.of(new ModelSource(model, name)), "host")
                                .verify(new VerifySpec(VerifyOn.NONE, Optional.of(vectors), 0, 0))
                                .build(),
                        SourceForm.ESP_IDF.text(),
                        "")
                .run();
        Files.writeString(
                folder.resolve("main.c"), "void app_main(void);\nint main(void) {\n  app_main();\n  return 0;\n}\n");
        List<String> line =
                new ArrayList<>(List.of("xtensa-lx106-elf-gcc", C_LIBRARY, "-O2", "-mtext-section-literals"));
        line.addAll(List.of(
                "-std=gnu11", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-nostdlib", "-o", "proof.elf"));
        line.addAll(List.of("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"));
        line.addAll(List.of("-T" + START.resolve("sim.ld"), "-I" + library.resolve("include"), "main.c"));
        line.addAll(List.of(
                START.resolve("start.S").toString(), START.resolve("start.c").toString()));
        for (String sources : List.of(SourceForm.ESP_IDF.sources(), SourceForm.ESP_IDF.proof())) {
            try (Stream<Path> files = Files.list(library.resolve(sources))) {
                files.map(Path::toString)
                        .filter(file -> file.endsWith(".c"))
                        .sorted()
                        .forEach(line::add);
            }
        }
        line.addAll(List.of("-lc", "-lgcc", "-lc"));
        run(line);
        return run(List.of(
                "qemu-system-xtensa",
                "-M",
                "sim",
                "-cpu",
                "lx106",
                "-semihosting",
                "-display",
                "none",
                "-monitor",
                "none",
                "-serial",
                "none",
                "-kernel",
                "proof.elf"));
    }

    private String run(List<String> line) {
        ProcessResult result = ProcessRunner.run(Command.ofLine(line).in(folder).within(Duration.ofMinutes(2)));
        assertThat(result.succeeded())
                .as("%s: %s", line.get(0), result.message())
                .isTrue();
        return result.output();
    }
}
