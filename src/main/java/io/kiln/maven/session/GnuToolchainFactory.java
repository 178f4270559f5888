// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import org.apache.maven.toolchain.MisconfiguredToolchainException;
import org.apache.maven.toolchain.ToolchainFactory;
import org.apache.maven.toolchain.ToolchainPrivate;
import org.apache.maven.toolchain.model.ToolchainModel;

/** Makes toolchains of type {@code gnu} from {@code toolchains.xml}. */
public final class GnuToolchainFactory implements ToolchainFactory {
    @Override
    public ToolchainPrivate createToolchain(ToolchainModel model) throws MisconfiguredToolchainException {
        return GnuToolchain.of(model);
    }

    @Override
    public ToolchainPrivate createDefaultToolchain() {
        return null; // the engine itself searches the PATH by default
    }
}
