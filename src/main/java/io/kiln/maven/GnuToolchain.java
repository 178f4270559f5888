// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.apache.maven.toolchain.ToolchainPrivate;
import org.apache.maven.toolchain.model.ToolchainModel;

/** A GNU cross toolchain of {@code toolchains.xml}: the programs in one folder's {@code bin}. */
final class GnuToolchain implements ToolchainPrivate {
    /** {@code <type>} in toolchains.xml. */
    static final String TYPE = "gnu";

    private final ToolchainModel model;
    private final Path folder;

    GnuToolchain(ToolchainModel model, Path folder) {
        this.model = model;
        this.folder = folder;
    }

    @Override
    public String getType() {
        return TYPE;
    }

    @Override
    public String findTool(String toolName) {
        Path tool = folder.resolve("bin").resolve(toolName);
        return Files.isExecutable(tool) ? tool.toString() : null;
    }

    @Override
    public boolean matchesRequirements(Map<String, String> requirements) {
        Properties provides = model.getProvides();
        return requirements.entrySet().stream()
                .allMatch(wanted -> wanted.getValue().equals(provides.getProperty(wanted.getKey())));
    }

    @Override
    public ToolchainModel getModel() {
        return model;
    }

    @Override
    public String toString() {
        return "GNU toolchain in " + folder;
    }
}
