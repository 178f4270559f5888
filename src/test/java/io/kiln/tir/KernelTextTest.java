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

    private static KernelText inverse() {
        return KernelText.of("portable/signal/irfft")
                .with("NAME", "T_NAME")
                .with("T", "int16_t")
                .with("S", "int32_t")
                .with("E", "int32_t")
                .with("PRODUCTS", "products")
                .with("SUM", "(value)")
                .with("HALF", "half(value)")
                .with("PASSES", "passes")
                .with("JOIN", "join");
    }

    @Test
    void theHeadIsNotPrintedAndParametersAreWholeIdentifiers() {
        assertThat(inverse().with("FINISH", "  one\n  two\n").text())
                .startsWith("/* Number k of n complex ones")
                .contains("static void T_NAME(int16_t* restrict x")
                .contains("\n  one\n  two\n}\n");
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
        assertThatThrownBy(() -> inverse().text())
                .hasMessageContaining("portable/signal/irfft.h needs values for [FINISH]");
        assertThatThrownBy(() -> inverse().with("OTHER", "1")).hasMessageContaining("has no parameter OTHER");
        assertThatThrownBy(() -> KernelText.of("riscv/none")).hasMessageContaining("no kernel file riscv/none.h");
    }
}
