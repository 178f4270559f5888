// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.WholeFiles;
import io.kiln.process.Command;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelTextTest {
    private static final Path KERNELS = Path.of("src/main/resources/kernels").toAbsolutePath();

    private static List<Path> files() throws IOException {
        try (Stream<Path> files = Files.walk(KERNELS)) {
            return files.filter(f -> f.toString().endsWith(".h")).sorted().toList();
        }
    }

    /** Each file is C by itself, with the example values of its parameters: the twin of a kernel as a compiler of this machine sees it. */
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
    void theHeadIsNotPrintedAndParametersAreWholeIdentifiers() {
        KernelText text = KernelText.of("riscv/kiln_copy_elements_n")
                .with("NAME", "COUNT")
                .with("COUNT", 5)
                .with("MOVES", "      one\n      two\n");
        assertThat(text.text())
                .startsWith("/* Copies 5 elements. */\n#if")
                .contains("static void COUNT(const int8_t* from")
                .contains("  __asm__ volatile(\n      one\n      two\n      \"ret\\n\"\n");
    }

    @Test
    void parametersWithAnArgumentReplaceCalls() {
        String text = KernelText.of("portable/signal/fft_passes")
                .with("PASSES", "passes")
                .with("T", "int16_t")
                .with("S", "int32_t")
                .with("E", "int32_t")
                .with("PRODUCTS", "products")
                .with("SUM", "(value)")
                .with("HALF", "half(value)")
                .with("QUARTER", "quarter(value)")
                .with("TURN_RE", "1")
                .with("TURN_IM", "2")
                .text();
        assertThat(text).contains("const int32_t re = (half(x[i]));").contains("b_re = quarter(b[0]);");
    }

    @Test
    void parametersThatAreMissingOrUnknownAndFilesThatAreNotThereAreErrors() {
        KernelText text = KernelText.of("riscv/kiln_copy_elements_n");
        assertThatThrownBy(() -> text.with("NAME", "n").with("COUNT", 1).text())
                .hasMessageContaining("riscv/kiln_copy_elements_n.h needs values for [MOVES]");
        assertThatThrownBy(() -> text.with("OTHER", "1")).hasMessageContaining("has no parameter OTHER");
        assertThatThrownBy(() -> KernelText.of("riscv/none")).hasMessageContaining("no kernel file riscv/none.h");
    }
}
