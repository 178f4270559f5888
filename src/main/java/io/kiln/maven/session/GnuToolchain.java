// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.apache.maven.toolchain.MisconfiguredToolchainException;
import org.apache.maven.toolchain.ToolchainPrivate;
import org.apache.maven.toolchain.model.ToolchainModel;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/** A GNU cross toolchain of {@code toolchains.xml}: the programs in one folder's {@code bin}. */
public final class GnuToolchain implements ToolchainPrivate {
    /** {@code <type>} in toolchains.xml. */
    public static final String TYPE = "gnu";

    private static final String INSTALL_DIR = "installDir";

    private final ToolchainModel model;
    private final Path folder;

    private GnuToolchain(ToolchainModel model, Path folder) {
        this.model = model;
        this.folder = folder;
    }

    /** The toolchain of an entry in toolchains.xml. */
    public static GnuToolchain of(ToolchainModel model) throws MisconfiguredToolchainException {
        Object configuration = model.getConfiguration();
        String value = null;
        if (configuration instanceof Xpp3Dom dom && dom.getChild(INSTALL_DIR) != null) {
            value = dom.getChild(INSTALL_DIR).getValue();
        }
        if (value == null || value.isBlank()) {
            throw new MisconfiguredToolchainException("toolchains.xml: a toolchain of type " + TYPE
                    + " lacks <configuration><installDir>; expected the folder that has bin/");
        }
        Path folder = Path.of(value.trim());
        if (!Files.isDirectory(folder.resolve("bin"))) {
            throw new MisconfiguredToolchainException("toolchains.xml: " + folder
                    + " has no folder bin; expected <installDir> to name an unpacked GNU toolchain");
        }
        return new GnuToolchain(model, folder);
    }

    /** The folder that contains {@code bin}. */
    public Path folder() {
        return folder;
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
