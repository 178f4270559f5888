// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.base.elf.ElfFile;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Models on boards of five lines, proved on the stand-in of the device's core. */
class DeviceModelTest {
    @TempDir
    private Path folder;

    /** A Cortex-M33 without DSP and floating point, behind a boot loader: the image tells the core where its vectors lie. */
    @Test
    void aModelAnswersAsItShould() throws IOException {
        answer("PLN033, offset: 0x1000", "clang");
        assertThat(ElfFile.read(folder.resolve("out/gesture.elf")).sections())
                .filteredOn(section -> section.name().equals(".vectors"))
                .singleElement()
                .satisfies(section -> assertThat(section.address()).isEqualTo(0x1000));
    }

    /** Several memories of the workspace, the fewest instructions, two memories of constants, and a core without floating point. */
    @ParameterizedTest
    @EnabledIfSystemProperty(named = "kiln.golden", matches = "all")
    @CsvSource({
        "PLN747, clang",
        "PLN000, clang",
        "PLN750, clang",
        "PLN023, clang",
        "PLN700, clang",
        "PLN551, clang",
        "PLN552, clang",
        "PLN553, clang",
        "PLN023, gnu",
        "PLN033, gnu",
        "PLN700, gnu",
        "PLN551, gnu",
        "PLN552, gnu",
        "PLN553, gnu"
    })
    void itDoesOnEveryKindOfDevice(String device, String toolchain) throws IOException {
        answer(device, toolchain);
    }

    private void answer(String device, String toolchain) throws IOException {
        TestPrograms.need("qemu-system-arm");
        Path board = folder.resolve("src/main/boards/mine/board.yaml");
        Files.createDirectories(board.getParent());
        Files.writeString(
                board,
                "schema: 1\nid: mine\ntitle: Mine\ndevice: {pack: \""
                        + Path.of("src/test/resources/packs/made-up")
                                .toAbsolutePath()
                                .toString()
                                .replace('\\', '/')
                        + "\", name: " + device + "}\n");
        BuildSpec spec = new GestureProject(folder)
                .spec("mine")
                .toolchain(Optional.of(toolchain))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(GestureProject.VECTORS), 1, 0))
                .build();
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).build(spec, DeviceSpec.USUAL);
        assertThat(new GestureProject(folder).text("kiln/verify.json")).contains("\"bitExact\" : true");
    }
}
