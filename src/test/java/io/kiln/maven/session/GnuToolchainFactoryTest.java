// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.maven.toolchain.MisconfiguredToolchainException;
import org.apache.maven.toolchain.ToolchainPrivate;
import org.apache.maven.toolchain.model.ToolchainModel;
import org.codehaus.plexus.util.xml.Xpp3Dom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class GnuToolchainFactoryTest {
    @TempDir
    Path folder;

    @Test
    void findsTheProgramsOfTheFolder() throws Exception {
        Files.createDirectories(folder.resolve("bin"));
        Path gcc = Files.createFile(folder.resolve("bin/arm-none-eabi-gcc"));
        assertThat(gcc.toFile().setExecutable(true)).isTrue();
        ToolchainModel model = model(folder.toString());
        model.addProvide("triple", "arm-none-eabi");
        ToolchainPrivate toolchain = new GnuToolchainFactory().createToolchain(model);
        assertThat(toolchain.getType()).isEqualTo("gnu");
        assertThat(toolchain.findTool("arm-none-eabi-gcc")).isEqualTo(gcc.toString());
        assertThat(toolchain.findTool("arm-none-eabi-ld")).isNull();
        assertThat(toolchain.matchesRequirements(Map.of("triple", "arm-none-eabi")))
                .isTrue();
        assertThat(toolchain.matchesRequirements(Map.of("triple", "riscv64-unknown-elf")))
                .isFalse();
    }

    @Test
    void aFolderWithoutProgramsIsMisconfigured() throws IOException {
        assertThatThrownBy(() -> new GnuToolchainFactory().createToolchain(model(folder.toString())))
                .isInstanceOf(MisconfiguredToolchainException.class)
                .hasMessageContaining("has no folder bin");
        assertThatThrownBy(() -> new GnuToolchainFactory().createToolchain(new ToolchainModel()))
                .isInstanceOf(MisconfiguredToolchainException.class)
                .hasMessageContaining("lacks <configuration><installDir>");
    }

    private static ToolchainModel model(String installDir) {
        Xpp3Dom configuration = new Xpp3Dom("configuration");
        Xpp3Dom child = new Xpp3Dom("installDir");
        child.setValue(installDir);
        configuration.addChild(child);
        ToolchainModel model = new ToolchainModel();
        model.setType("gnu");
        model.setConfiguration(configuration);
        return model;
    }
}
