// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.maven.toolchain.MisconfiguredToolchainException;
import org.apache.maven.toolchain.ToolchainFactory;
import org.apache.maven.toolchain.ToolchainPrivate;
import org.apache.maven.toolchain.model.ToolchainModel;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/** Makes toolchains of type {@code gnu} from {@code toolchains.xml}. */
public final class GnuToolchainFactory implements ToolchainFactory {
    private static final String INSTALL_DIR = "installDir";

    @Override
    public ToolchainPrivate createToolchain(ToolchainModel model) throws MisconfiguredToolchainException {
        Object configuration = model.getConfiguration();
        String value = null;
        if (configuration instanceof Xpp3Dom dom && dom.getChild(INSTALL_DIR) != null) {
            value = dom.getChild(INSTALL_DIR).getValue();
        }
        if (value == null || value.isBlank()) {
            throw new MisconfiguredToolchainException("toolchains.xml: a toolchain of type " + GnuToolchain.TYPE
                    + " lacks <configuration><installDir>; expected the folder that has bin/");
        }
        Path folder = Path.of(value.trim());
        if (!Files.isDirectory(folder.resolve("bin"))) {
            throw new MisconfiguredToolchainException("toolchains.xml: " + folder
                    + " has no folder bin; expected <installDir> to name an unpacked GNU toolchain");
        }
        return new GnuToolchain(model, folder);
    }

    @Override
    public ToolchainPrivate createDefaultToolchain() {
        return null; // the PATH is the default, and the engine looks there itself
    }
}
