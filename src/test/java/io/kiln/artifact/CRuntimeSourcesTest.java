// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Optimize;
import io.kiln.process.Command;
import io.kiln.process.KeptPrograms;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.compiler.SourceKind;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchain;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every source and every header of the C runtime by itself, with each toolchain, freestanding and without a warning. */
class CRuntimeSourcesTest {
    private static final List<String> STRICT =
            List.of("-ffreestanding", "-Wpedantic", "-Wstrict-prototypes", "-Wundef", "-fsyntax-only");
    private static final Path SHIMS = Path.of("src", "main", "resources", "shims", "include");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "gnu, c -keys=arm_cpu -mcpu=cortex-m4",
        "gnu, c -keys=cpu -march=rv32imac",
        "clang, c -keys=arm_cpu -mcpu=cortex-m0",
        "clang, c -keys=cpu -march=rv32imac",
        "host, c -keys=cpu -model=host"
    })
    void everyFileCompilesByItself(String id, String target) {
        Toolchain toolchain = TestToolchains.resolve(id, target);
        List<String> arguments = arguments(toolchain);
        arguments.addAll(STRICT);
        RuntimeFiles.runtime().forEach(file -> write(file.fileName(), file.text()));
        RuntimeFiles.runtime().stream()
                .map(Artifact::fileName)
                .map(name -> name.endsWith(".h") ? alone(name, ".c") : name)
                .forEach(arguments::add);

        run(toolchain, arguments);
    }

    /** Headers are C++ too, for a 64-bit and a 32-bit core. */
    @ParameterizedTest
    @CsvSource({"host, c -keys=cpu -model=host", "clang, c -keys=arm_cpu -mcpu=cortex-m4"})
    void everyHeaderIsCpp(String id, String target) {
        Toolchain toolchain = TestToolchains.resolve(id, target);
        List<String> arguments = arguments(toolchain);
        arguments.removeIf(flag -> flag.startsWith("-std="));
        arguments.addAll(List.of("-std=c++11", "-x", "c++", "-ffreestanding", "-fsyntax-only"));
        RuntimeFiles.runtime().forEach(file -> write(file.fileName(), file.text()));
        RuntimeFiles.runtime().stream()
                .map(Artifact::fileName)
                .filter(name -> name.endsWith(".h"))
                .map(name -> alone(name, ".cc"))
                .forEach(arguments::add);

        run(toolchain, arguments);
    }

    @Test
    void filesAreSortedAndSayTheirLicence() {
        List<String> names =
                RuntimeFiles.runtime().stream().map(Artifact::fileName).toList();

        assertThat(names)
                .isSorted()
                .contains(
                        "include/dlpack/dlpack.h",
                        "include/tvm/runtime/crt/platform.h",
                        "src/runtime/crt/memory/stack_allocator.c");
        assertThat(RuntimeFiles.runtime()).allMatch(a -> a.text().startsWith("/* SPDX-License-Identifier: Apache-2.0"));
        assertThat(RuntimeFiles.templates())
                .extracting(Artifact::fileName)
                .containsExactly("crt_config.h.template", "platform.c.template");
    }

    private List<String> arguments(Toolchain toolchain) {
        List<String> arguments = new ArrayList<>(toolchain.compileFlags(SourceKind.OWN, Optimize.SIZE));
        arguments.addAll(List.of("-I", "include"));
        if (toolchain.shims()) {
            arguments.addAll(List.of("-I", SHIMS.toAbsolutePath().toString()));
        }
        return arguments;
    }

    /** A program that includes one header and nothing else. */
    private String alone(String header, String suffix) {
        String file = header.replaceAll("[/.]", "_") + suffix;
        write(file, "#include <" + header.substring("include/".length()) + ">\nint unused(void);\n");
        return file;
    }

    private void write(String name, String text) {
        try {
            Path file = folder.resolve(name);
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void run(Toolchain toolchain, List<String> arguments) {
        Command command = Command.of(toolchain.compiler(), arguments);
        ProcessResult result = KeptPrograms.check(folder, command);
        assertThat(result.succeeded())
                .as(command.text() + "\n" + result.message())
                .isTrue();
    }
}
