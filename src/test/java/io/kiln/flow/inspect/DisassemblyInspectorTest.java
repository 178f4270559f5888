// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.flow.inspect.Doctor.Tool;
import io.kiln.flow.inspect.Inspector.DisassemblyInspector;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.SourceKind;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DisassemblyInspectorTest {
    private static final int EM_ARM = 40;
    private static final int EM_RISCV = 243;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "40, c -mcpu=cortex-m4, '.*R_ARM_THM_(CALL|JUMP24) called.*'",
        "243, c -mcpu=rv32imac, '.*R_RISCV_CALL(_PLT)? called.*'"
    })
    void objectsAreDisassembledWithRelocations(int machine, String target, String relocation) throws IOException {
        TestPrograms.need(DisassemblyInspector.tool(machine).program());
        Path object = object(target);
        List<String> lines = Inspector.lines(object, "disassembly");
        assertThat(lines.get(0)).isEqualTo("host/native/code.o");
        assertThat(lines)
                .anyMatch(line -> line.matches(" *[0-9a-f]+ <scaled>:"))
                .anyMatch(line -> line.matches(".*\\bmul.*"))
                .anyMatch(line -> line.matches(relocation))
                .noneMatch(line -> line.contains(folder.toString()));
        assertThat(Inspector.lines(object, "?")).contains("disassembly (artifact)");
    }

    @Test
    void eachMachineHasItsTool() {
        assertThat(DisassemblyInspector.tool(EM_ARM).packages()).containsExactly("binutils-arm-none-eabi");
        assertThat(DisassemblyInspector.tool(EM_RISCV).packages()).containsExactly("binutils-riscv64-unknown-elf");
        assertThat(DisassemblyInspector.tool(62).program()).isEqualTo("objdump");
    }

    @Test
    void aMissingToolIsNamedWithItsPackage() throws IOException {
        List<Artifact> object = Inspector.artifacts(object("c -mcpu=cortex-m4"));
        DisassemblyInspector inspector =
                new DisassemblyInspector(machine -> new Tool("no-objdump-" + machine, List.of("binutils-none"), ""));
        assertThatThrownBy(() -> inspector.inspect(object))
                .isInstanceOf(KilnException.class)
                .hasMessageContainingAll(
                        "cannot be disassembled: no-objdump-40 is not installed",
                        "code.o",
                        "apt-get install binutils-none");
    }

    private Path object(String target) throws IOException {
        Path source = folder.resolve("code.c");
        Files.writeString(source, """
            int called(int x);
            int scaled(int x, int y) { return called(x * y); }
            """);
        Toolchain clang = TestToolchains.resolve("clang", target);
        List<String> arguments = new ArrayList<>(clang.compileFlags(SourceKind.USER, Optimize.SIZE));
        arguments.addAll(List.of("-c", "code.c", "-o", "code.o"));
        assertThat(ProcessRunner.run(Command.of(clang.compiler(), arguments).in(folder))
                        .message())
                .isBlank();
        return folder.resolve("code.o");
    }
}
