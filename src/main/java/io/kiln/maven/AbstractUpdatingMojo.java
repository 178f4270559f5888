// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.flow.spec.BuildSpecBuilder;
import io.kiln.flow.spec.RecordsSpec;
import io.kiln.flow.spec.UpdateSpec;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.settings.Server;

/** The parameters of updates in the field, and those that say which tuning records count, for every goal that builds. */
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
     * the board's flash; {@code IMAGE.update} then has them for both.
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
     * Id of a {@code server} in settings.xml whose {@code privateKey} is the file of the key, if {@code kiln.update.key} is not set.
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
     * The header before the whole image: {@code none}, or {@code mcuboot} for {@code IMAGE.mcuboot.bin} in the format of the boot loader
     * MCUboot, signed if there is a key.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.imageHeader", defaultValue = "none")
    private String imageHeader;

    /**
     * The log of tuning records that the build follows and {@code kiln:tune} writes. If not set, {@code src/main/tuning/BOARD.log}; if
     * there is no such file, rules choose all schedules.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.tune.records")
    private File tuneRecords;

    /**
     * What {@code kiln:tune} makes as small as possible: {@code cycles} (estimated from the executed instructions), {@code instructions}, {@code
     * time} (on a board), {@code size} or {@code ram}, or several with weights, such as {@code cycles:1,size:0.2}, each relative to the choice of the
     * rules. If not set: {@code size} with {@code kiln.optimize=size}, {@code time} on a board, {@code cycles} where the core has a timing table, and
     * {@code instructions} elsewhere. It must be one that builds with this {@code kiln.optimize} follow. With {@code instructions}, every build leaves
     * records of {@code cycles} and {@code time} alone and follows those of {@code instructions}; otherwise it leaves these alone where the core has a
     * timing table.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.tune.objective")
    private String tuneObjective;

    /** What a search minimises, if it is set. */
    final Optional<String> tuneObjective() {
        return Optional.ofNullable(tuneObjective);
    }

    /** The tuning records to follow, with those of other projects. */
    final RecordsSpec records(List<Path> shared) {
        return RecordsSpec.of(Optional.ofNullable(tuneRecords).map(File::toPath), shared, tuneObjective());
    }

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
