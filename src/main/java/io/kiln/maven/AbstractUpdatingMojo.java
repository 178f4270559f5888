// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.flow.spec.BuildSpecBuilder;
import io.kiln.flow.spec.UpdateSpec;
import java.io.File;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.settings.Server;

/** The parameters of updates in the field, for every goal that builds. */
abstract class AbstractUpdatingMojo extends AbstractQuantizingMojo {
    /**
     * Version of the models, which programs read as {@code TVMGEN_NAME_MODEL_VERSION}; the default is the project's.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.modelVersion", defaultValue = "${project.version}")
    private String modelVersion;

    /**
     * What is replaced in the field without the firmware: {@code none}, or {@code slots} for the models, which lie in one of two slots of
     * the board's flash; {@code <image>.update} then has them for both.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.update", defaultValue = "none")
    private String update;

    /**
     * The file of the Ed25519 key that signs updates: PKCS#8 in PEM, not encrypted, outside of the project's repository. Firmware has only the
     * public key.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.update.key")
    private File updateKey;

    /**
     * Id of a {@code <server>} in settings.xml whose {@code <privateKey>} is the file of the key, if {@code kiln.update.key} is not set.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.update.server")
    private String updateServer;

    /**
     * The oldest version of the firmware that the models work with; devices with an older one refuse them.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.update.minimumFirmware", defaultValue = "0.0.0")
    private String minimumFirmware;

    /**
     * The header before the whole image: {@code none}, or {@code mcuboot} for {@code <image>.mcuboot.bin} in the format of the boot loader
     * MCUboot, signed if there is a key.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.imageHeader", defaultValue = "none")
    private String imageHeader;

    /** Version of the models; empty if there is none. */
    final String modelVersion() {
        return modelVersion == null ? "" : modelVersion;
    }

    /** Sets how the image is updated in the field. */
    final void updates(BuildSpecBuilder build) {
        build.update(() -> UpdateSpec.of(
                update,
                imageHeader,
                key(),
                new UpdateSpec.Versions(modelVersion(), String.valueOf(project().getVersion()), minimumFirmware)));
    }

    private Optional<Path> key() {
        if (updateKey != null || updateServer == null || updateServer.isBlank()) {
            return Optional.ofNullable(updateKey).map(File::toPath);
        }
        Server server = session().getSettings().getServer(updateServer);
        if (server == null || server.getPrivateKey() == null) {
            throw new KilnException(new Problem(
                    "settings.xml has no private key for '" + updateServer + "'",
                    "kiln.update.server",
                    "a <server> with this <id> and a <privateKey>, the path of the key",
                    "Add it, or set kiln.update.key"));
        }
        return Optional.of(Path.of(server.getPrivateKey()));
    }
}
