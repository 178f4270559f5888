// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ArtifactKind;
import io.kiln.base.Optimize;
import io.kiln.process.Command;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import io.kiln.process.TestPrograms;
import io.kiln.target.TestTargets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** With {@code kiln.portable}, nothing that a compiler for the target sees is assembly or a vendor's intrinsic. */
class PortableKernelsTest {
    private static final Path MODEL = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");
    private static final Pattern MACHINE =
            Pattern.compile("__asm__|\\bv[a-z0-9]+q(_[a-z0-9]+)+\\(|__builtin_arm|__smlad");

    @TempDir
    private Path folder;

    static Stream<Arguments> cores() {
        return Stream.of(
                Arguments.of(TestTargets.M0, List.of("arm-none-eabi-gcc", "-mcpu=cortex-m0", "-mthumb")),
                Arguments.of(TestTargets.M3, List.of("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb")),
                Arguments.of(
                        TestTargets.M4, List.of("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard")),
                Arguments.of(
                        TestTargets.M55,
                        List.of("arm-none-eabi-gcc", "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard")),
                Arguments.of(TestTargets.RV32, List.of("riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32")));
    }

    @ParameterizedTest
    @MethodSource("cores")
    void onlyTheTwinsAreLeft(String target, List<String> compiler) throws IOException {
        TestPrograms.need(compiler.get(0));
        RequestDraft draft = RequestDraft.of(MODEL, target).name("gesture");
        assertThat(preprocessed(draft.build(), compiler)).containsPattern(MACHINE);
        assertThat(preprocessed(draft.portable().build(), compiler)).doesNotContainPattern(MACHINE);
    }

    @ParameterizedTest
    @EnumSource(Optimize.class)
    void scheduleAndNamesAreTheSame(Optimize optimize) {
        RequestDraft draft =
                RequestDraft.of(MODEL, TestTargets.M4).name("gesture").optimize(optimize);
        String own = code(draft.build());
        String portable = code(draft.portable().build());
        assertThat(portable).isNotEqualTo(own);
        assertThat(portable.replaceAll("\n/\\* kiln\\.portable.*\n(#undef .*\n)+", ""))
                .isEqualTo(own);
    }

    /** The C of the operators as the compiler sees it, without that of its own headers. */
    private String preprocessed(CompileRequest request, List<String> compiler) throws IOException {
        String own = code(request)
                .lines()
                .filter(line -> !line.startsWith("#include"))
                .collect(Collectors.joining("\n"));
        Path file = folder.resolve("lib1.c");
        Files.writeString(file, own);
        List<String> line = Stream.concat(compiler.stream(), Stream.of("-E", "-P", file.toString()))
                .toList();
        ProcessResult result = ProcessRunner.run(Command.ofLine(line));
        assertThat(result.exitCode()).as(result.errors()).isZero();
        return result.output();
    }

    private static String code(CompileRequest request) {
        return ModelCompiler.compile(request).library().artifacts().artifacts().stream()
                .filter(file ->
                        file.kind() == ArtifactKind.SOURCE && file.fileName().endsWith("_lib1.c"))
                .map(file -> file.text())
                .collect(Collectors.joining());
    }
}
