// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import static io.kiln.tir.KernelSheet.EMPTY_LINE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gg.jte.Content;
import io.kiln.base.WholeFiles;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelSheetTest {
    private static final Path KERNELS = Path.of("src/main/resources/kernels").toAbsolutePath();

    private static List<Path> files() throws IOException {
        try (Stream<Path> files = Files.walk(KERNELS)) {
            return files.filter(f -> f.toString().endsWith(".h")).sorted().toList();
        }
    }

    /** Each file is C by itself: the twin of a kernel as a compiler of this machine sees it. */
    @Test
    void everyFileCompilesByItselfWithoutWarnings(@TempDir Path folder) throws IOException {
        List<String> options = new ArrayList<>(List.of(
                "-std=c99",
                "-fsyntax-only",
                "-Wall",
                "-Wextra",
                "-Wconversion",
                "-Wshadow",
                "-Werror",
                "-Wno-unused-function"));
        for (Path file : files()) {
            String name = KERNELS.relativize(file).toString().replace('/', '_').replace(".h", ".c");
            WholeFiles.write(folder.resolve(name), "#include \"" + file + "\"\n");
            options.add(name);
        }
        ProcessResult built = ProcessRunner.run(Command.of("cc", options).in(folder));
        assertThat(built.exitCode()).as(built.output()).isZero();
    }

    @Test
    void theHeadOfAFileIsNotPrinted() {
        assertThat(KernelSheet.file("portable/kiln_clamp"))
                .doesNotContain("SPDX", "#include")
                .contains("kiln_clamp(");
        assertThat(KernelSheet.name("portable/kiln_clamp")).isEqualTo("kiln_clamp");
        assertThatThrownBy(() -> KernelSheet.file("riscv/none")).hasMessageContaining("no kernel file riscv/none.h");
    }

    /** A macro at the head of a file would be one that models do not have. */
    @Test
    void noFileHasParameters() throws IOException {
        for (Path file : files()) {
            String text = Files.readString(file);
            assertThat(text.substring(0, text.indexOf("\n\n")))
                    .as(file.toString())
                    .doesNotContain("#define");
        }
    }

    @Test
    void linesOfASheetThatTurnOutEmptyAreNotPrintedUnlessTheyAreMeant() {
        assertThat(KernelSheet.text((out, html) -> out.writeContent("one\n\n  \n" + EMPTY_LINE + "\n  two")))
                .isEqualTo("one\n\n  two\n");
    }

    @Test
    void assemblyIsAStringForEachLineWithoutTheReadersComments() {
        Content body =
                out -> out.writeContent("\n  mov r0, r1   // why\n  // only why\n  .rept 4\n  nop\n  .endr\n  b 1b\n");
        assertThat(KernelSheet.text((out, html) -> KernelSheet.assembly(body).writeTo(out)))
                .isEqualTo("""
                              "mov r0, r1\\n"
                              ".rept 4\\n"
                              "  nop\\n"
                              ".endr\\n"
                              "b 1b\\n"
                        """);
        assertThat(KernelSheet.text(
                        (out, html) -> KernelSheet.indentedAssembly(body).writeTo(out)))
                .startsWith("        \"mov r0, r1\\n\\t\"\n");
    }

    @Test
    void parametersOfANakedFunctionAreMarkedAsUnused() {
        assertThat(KernelSheet.unused(List.of("int a", "char* b")))
                .isEqualTo("__attribute__((unused)) int a, __attribute__((unused)) char* b");
    }
}
