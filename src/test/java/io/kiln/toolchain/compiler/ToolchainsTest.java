// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.ResourceTree;
import io.kiln.process.Command;
import io.kiln.process.KeptPrograms;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ToolchainsTest {
    private static final String M4 = "c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=mps2-an386";

    @TempDir
    Path folder;

    @Test
    void targetStringsSayWhichCoreToCompileFor() {
        assertThat(TargetOptions.parse(M4)).isEqualTo(new TargetOptions("cortex-m4", "", "", ""));
        TargetOptions riscv = TargetOptions.parse("c -keys=cpu  -march=rv32imac -mabi=ilp32");
        assertThat(riscv).isEqualTo(new TargetOptions("", "rv32imac", "ilp32", ""));
        assertThat(riscv.cpu()).isEqualTo("rv32imac");
        assertThat(TargetOptions.parse("c -keys=cpu -model=host").isHost()).isTrue();
        assertThat(Toolchains.defaultFor(TargetOptions.parse("c"))).isEqualTo("host");
        assertThat(Toolchains.defaultFor(riscv)).isEqualTo("clang");
    }

    @Test
    void builtInDescriptorsSatisfyTheSchema() {
        assertThat(Toolchains.builtIn()).containsOnlyKeys("clang", "gnu", "host");
        ResourceTree.read("toolchains/compilers")
                .forEach((file, content) -> assertThat(
                                Toolchains.read(file, content).id() + ".yaml")
                        .isEqualTo(file));
    }

    @Test
    void everyCoreIsOnThePageOfBoards() throws IOException {
        String page = Files.readString(Path.of("src/site/markdown/boards.md"));
        for (String id : List.of("clang.yaml", "gnu.yaml")) {
            Toolchains.read(id, ResourceTree.read("toolchains/compilers").get(id))
                    .families()
                    .values()
                    .forEach(family -> assertThat(family.cpus().keySet())
                            .allSatisfy(core -> assertThat(page).contains("`" + core + "`")));
        }
    }

    /** Instruction sets by what the compiler itself says that it compiles for. */
    @ParameterizedTest
    @CsvSource({
        "gnu, cortex-m0, __ARM_ARCH=6, __ARM_FEATURE_DSP",
        "gnu, cortex-m0plus, __ARM_ARCH=6, __ARM_FEATURE_DSP",
        "gnu, cortex-m3, __ARM_ARCH=7, __ARM_FP",
        "gnu, cortex-m4, __ARM_FP=4, __ARM_FEATURE_MVE",
        "gnu, cortex-m7, __ARM_FP=14, __ARM_FEATURE_MVE",
        "gnu, cortex-m33, __ARM_FP=4, __ARM_FEATURE_MVE",
        "gnu, cortex-m33+nofp, __ARM_ARCH=8, __ARM_FP",
        "gnu, cortex-m33+nodsp, __ARM_FP=4, __ARM_FEATURE_DSP",
        "gnu, cortex-m33+nofp+nodsp, __ARM_ARCH=8, __ARM_FEATURE_DSP",
        "gnu, cortex-m23, __ARM_ARCH=8, __ARM_FEATURE_DSP",
        "gnu, cortex-m7+nofp, __ARM_FEATURE_DSP=1, __ARM_FP",
        "gnu, cortex-m55, __ARM_FEATURE_MVE=3, __riscv",
        "gnu, cortex-m55+nofp, __ARM_FEATURE_MVE=1, __riscv",
        "gnu, cortex-m55+nomve, __ARM_FEATURE_DSP=1, __ARM_FEATURE_MVE",
        "gnu, cortex-m55+nomve+nofp, __ARM_FEATURE_DSP=1, __ARM_FEATURE_MVE",
        "gnu, cortex-m85, __ARM_FEATURE_MVE=3, __riscv",
        "gnu, cortex-m7+nofp, __ARM_FEATURE_DSP=1, __ARM_FP",
        "gnu, cortex-m23, __ARM_ARCH=8, __ARM_FEATURE_DSP",
        "gnu, cortex-m33+nodsp, __ARM_FP=4, __ARM_FEATURE_DSP",
        "gnu, cortex-m33+nofp+nodsp, __ARM_ARCH=8, __ARM_FEATURE_DSP",
        "gnu, cortex-m35p, __ARM_FP=4, __ARM_FEATURE_MVE",
        "gnu, cortex-m35p+nofp, __ARM_FEATURE_DSP=1, __ARM_FP",
        "gnu, cortex-m52, __ARM_FEATURE_MVE=3, __riscv",
        "gnu, cortex-m55+nofp, __ARM_FEATURE_MVE=1, __ARM_FP",
        "gnu, cortex-m55+nomve, __ARM_FP=14, __ARM_FEATURE_MVE",
        "clang, cortex-m7+nofp, __ARM_FEATURE_DSP=1, __ARM_FP",
        "clang, cortex-m23, __ARM_ARCH=8, __ARM_FEATURE_DSP",
        "clang, cortex-m33+nodsp, __ARM_FP=0x6, __ARM_FEATURE_DSP",
        "clang, cortex-m33+nofp+nodsp, __ARM_ARCH=8, __ARM_FEATURE_DSP",
        "clang, cortex-m35p, __ARM_FP=0x6, __ARM_FEATURE_MVE",
        "clang, cortex-m35p+nofp, __ARM_FEATURE_DSP=1, __ARM_FP",
        "clang, cortex-m52, __ARM_FEATURE_MVE=3, __riscv",
        "clang, cortex-m55+nofp, __ARM_FEATURE_MVE=1, __ARM_FP",
        "clang, cortex-m55+nomve, __ARM_FP=0xe, __ARM_FEATURE_MVE",
        "clang, cortex-m0, __ARM_ARCH=6, __ARM_FEATURE_DSP",
        "clang, cortex-m0plus, __ARM_ARCH=6, __ARM_FEATURE_DSP",
        "clang, cortex-m3, __ARM_ARCH=7, __ARM_FP",
        "clang, cortex-m4, __ARM_FP=0x6, __ARM_FEATURE_MVE",
        "clang, cortex-m7, __ARM_FP=0xe, __ARM_FEATURE_MVE",
        "clang, cortex-m33, __ARM_FP=0x6, __ARM_FEATURE_MVE",
        "clang, cortex-m33+nofp, __ARM_ARCH=8, __ARM_FEATURE_MVE",
        "clang, cortex-m33+nodsp, __ARM_FP=0x6, __ARM_FEATURE_DSP",
        "clang, cortex-m33+nofp+nodsp, __ARM_ARCH=8, __ARM_FEATURE_DSP",
        "clang, cortex-m23, __ARM_ARCH=8, __ARM_FEATURE_DSP",
        "clang, cortex-m7+nofp, __ARM_FEATURE_DSP=1, __ARM_FEATURE_MVE",
        "clang, cortex-m55, __ARM_FEATURE_MVE=3, __riscv",
        "clang, cortex-m55+nofp, __ARM_FEATURE_MVE=1, __riscv",
        "clang, cortex-m55+nomve, __ARM_FEATURE_DSP=1, __ARM_FEATURE_MVE",
        "clang, cortex-m55+nomve+nofp, __ARM_FEATURE_DSP=1, __ARM_FEATURE_MVE",
        "clang, cortex-m85, __ARM_FEATURE_MVE=3, __riscv",
    })
    void everyCoreGetsItsInstructionSet(String id, String cpu, String defined, String undefined) {
        List<String> macros = macros(TestToolchains.resolve(id, "c -mcpu=" + cpu));

        String[] parts = defined.split("=", 2);
        assertThat(macros).contains("#define " + parts[0] + " " + parts[1]);
        assertThat(macros).noneMatch(line -> line.startsWith("#define " + undefined + " "));
    }

    /** At -O3 a loop of four turns has no place for a breakpoint. */
    @ParameterizedTest
    @CsvSource({"gnu", "clang", "host"})
    void theUsersCodeIsNotUnrolled(String id) {
        Toolchain toolchain = TestToolchains.resolve(id, id.equals("host") ? "c" : "c -mcpu=cortex-m4");
        for (SourceKind kind : List.of(SourceKind.USER, SourceKind.CPLUSPLUS)) {
            assertThat(toolchain.compileFlags(kind, Optimize.SPEED))
                    .contains("-O2")
                    .doesNotContain("-O3");
            assertThat(toolchain.compileFlags(kind, Optimize.SIZE)).contains("-Os");
        }
        assertThat(toolchain.compileFlags(SourceKind.OWN, Optimize.SPEED)).contains("-O3");
    }

    @ParameterizedTest
    @CsvSource({"gnu", "clang"})
    void riscvIsCompiledForWithItsCallingConvention(String id) {
        List<String> macros = macros(TestToolchains.resolve(id, "c -march=rv32imac -mabi=ilp32"));

        assertThat(macros)
                .contains("#define __riscv_xlen 32", "#define __riscv_float_abi_soft 1")
                .anyMatch(line -> line.startsWith("#define __riscv_compressed"));
    }

    @Test
    void anUnknownToolchainOrCoreIsRefusedWithWhatThereIs() {
        assertThatThrownBy(() -> resolve("keil", M4, Optional.empty()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there is no toolchain \"keil\"")
                .hasMessageContaining("clang, gnu, host");
        assertThatThrownBy(() -> resolve("gnu", "c -mcpu=cortex-z9", Optional.empty()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("toolchain gnu does not compile for cortex-z9")
                .hasMessageContaining("cortex-m4");
        assertThatThrownBy(() -> resolve("clang", "c -keys=cpu", Optional.empty()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("-Dkiln.toolchain=host");
    }

    @Test
    void aMissingCompilerIsNamedWithTheCommandThatGetsIt() throws IOException {
        String text = gnuDescriptor().replace("compiler: arm-none-eabi-gcc", "compiler: kiln-no-such-gcc");
        Path file = Files.writeString(folder.resolve("mine.yaml"), text);

        assertThatThrownBy(() -> resolve(file.toString(), M4, Optional.of(folder)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the compiler kiln-no-such-gcc is missing")
                .hasMessageContaining("in " + folder + " or on the PATH")
                .hasMessageContaining("Get it with: apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi");
    }

    @Test
    void aBrokenDescriptorIsRefusedWithEverythingThatIsWrong() throws IOException {
        String text = gnuDescriptor()
                .replace("library: toolchain", "library: none")
                .replace("  size: [-Os]", "  tiny: [-Os]");
        Path file = Files.writeString(folder.resolve("mine.yaml"), text);
        Path noYaml = Files.writeString(folder.resolve("no.yaml"), "a: [1\nb: 2\n");

        assertThatThrownBy(() -> resolve(file.toString(), M4, Optional.empty()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("mine.yaml")
                .hasMessageContaining("library")
                .hasMessageContaining("size")
                .hasMessageContaining("tiny");
        assertThatThrownBy(() -> resolve(noYaml.toString(), M4, Optional.empty()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("no.yaml:2: this is not YAML");
        assertThatThrownBy(() -> resolve(folder.resolve("absent.yaml").toString(), M4, Optional.empty()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("absent.yaml: cannot read: there is no such file");
    }

    @Test
    void anInstallationThatMavenNamesComesBeforeThePath() throws IOException {
        Path driver = folder.resolve("bin/arm-none-eabi-gcc");
        Files.createDirectories(driver.getParent());
        Files.writeString(driver, "#!/bin/sh\necho 'my gcc 99'\n");
        assertThat(driver.toFile().setExecutable(true)).isTrue();

        Toolchain toolchain = resolve("gnu", M4, Optional.of(folder));

        assertThat(toolchain.version()).isEqualTo("my gcc 99");
        assertThat(toolchain.compiler()).isEqualTo(driver.toString());
        assertThat(toolchain.compileFlags(SourceKind.OWN, Optimize.SPEED))
                .contains("-O3", "-Wconversion", "-Werror", "-ffile-prefix-map=" + folder + "=gnu");
        assertThat(toolchain.compileFlags(SourceKind.USER, Optimize.SIZE))
                .contains("-Os")
                .doesNotContain("-Werror");
    }

    private static Toolchain resolve(String id, String target, Optional<Path> gnuHome) {
        ToolchainEnvironment environment = new ToolchainEnvironment(
                KeptPrograms.folder().resolve("home"),
                gnuHome.stream().toList(),
                (group, artifact, version, classifier, extension) -> {
                    throw new AssertionError("nothing is to be fetched");
                },
                Log.QUIET);
        return Toolchains.resolve(id, TargetOptions.parse(target), environment);
    }

    private static String gnuDescriptor() throws IOException {
        return Files.readString(Path.of("toolchains/compilers/gnu.yaml"));
    }

    private static List<String> macros(Toolchain toolchain) {
        List<String> line = new ArrayList<>();
        line.add(toolchain.compiler());
        line.addAll(toolchain.compileFlags(SourceKind.OWN, Optimize.SPEED));
        line.addAll(List.of("-dM", "-E", "-x", "c", "-"));
        ProcessResult result = ProcessRunner.run(Command.ofLine(line));
        assertThat(result.succeeded()).as(result.message()).isTrue();
        return result.output().lines().toList();
    }
}
