// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.ParameterValue;
import io.kiln.base.Problems;
import io.kiln.firmware.update.SlottedFirmware.SlotRequest;
import io.kiln.firmware.update.UpdateKey;
import io.kiln.firmware.update.UpdateVersion;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How an image is updated in the field.
 *
 * @param models how models are replaced without the firmware
 * @param header what boot loaders find in front of the whole image
 * @param key file of the key that signs; empty for none
 * @param versions of models and firmware
 */
public record UpdateSpec(Models models, Header header, Optional<Path> key, Versions versions) {
    private static final String UPDATE = "update";
    private static final String MODELS = "models-";

    /** No updates in the field. */
    public static final UpdateSpec NONE =
            new UpdateSpec(Models.NONE, Header.NONE, Optional.empty(), new Versions("0", "0", "0"));

    /** What is replaced without the firmware: {@code kiln.update}. */
    public enum Models {
        NONE,
        /** The models, which lie in one of two slots. */
        SLOTS
    }

    /** The header of whole images: {@code kiln.imageHeader}. */
    public enum Header {
        NONE,
        MCUBOOT
    }

    /**
     * Versions as the parameters have them.
     *
     * @param models {@code kiln.modelVersion}
     * @param firmware the project's
     * @param minimumFirmware {@code kiln.update.minimumFirmware}
     */
    public record Versions(String models, String firmware, String minimumFirmware) {}

    /**
     * Reads the parameters.
     *
     * @throws KilnException if a value does not exist
     */
    public static UpdateSpec of(String models, String header, Optional<Path> key, Versions versions) {
        return new UpdateSpec(
                ParameterValue.of("kiln.update", Models.class, models),
                ParameterValue.of("kiln.imageHeader", Header.class, header),
                key,
                versions);
    }

    /** Whether the models lie in slots. */
    public boolean hasSlots() {
        return models == Models.SLOTS;
    }

    /** Whether the whole image gets MCUboot's header. */
    public boolean isForMcuboot() {
        return header == Header.MCUBOOT;
    }

    /** Checks the settings: adds what is missing or malformed, before anything is built. */
    public void check(Problems problems) {
        if (!hasSlots() && !isForMcuboot()) {
            return;
        }
        problems.collect(this::firmware);
        problems.collect(this::signer);
        if (hasSlots()) {
            problems.collect(this::requireKey);
            problems.collect(this::modelVersion);
            problems.collect(this::minimumFirmware);
        }
    }

    /**
     * Versions and key of models in slots.
     *
     * @throws KilnException if a version or the key is missing or malformed
     */
    public SlotRequest slots() {
        return new SlotRequest(UpdateKey.read(requireKey()), modelVersion(), firmware(), minimumFirmware());
    }

    private Path requireKey() {
        return key.orElseThrow(() -> Failure.CONFIG.exception(
                "kiln.update is slots, and nothing says which key signs the models",
                "kiln.update.key",
                "a file with an Ed25519 key as PKCS#8 in PEM",
                "openssl genpkey -algorithm ed25519 -out update-key.pem, outside the project's repository"));
    }

    private UpdateVersion modelVersion() {
        return UpdateVersion.parse(versions.models, "kiln.modelVersion");
    }

    private UpdateVersion minimumFirmware() {
        return UpdateVersion.parse(versions.minimumFirmware, "kiln.update.minimumFirmware");
    }

    public UpdateVersion firmware() {
        return UpdateVersion.parse(versions.firmware, "the project's version");
    }

    /**
     * The file that updates devices in the field. Its name has the models' version where that is not the firmware's, which the name of the
     * image may have.
     */
    public Path file(BuildSpec.Layout layout) {
        UpdateVersion version = modelVersion();
        return layout.image(version.equals(firmware()) ? UPDATE : MODELS + version + "." + UPDATE);
    }

    /** Whether a file is an update that an earlier build wrote for an image of this name. */
    public static boolean isFile(BuildSpec.Layout layout, Path file) {
        String name = String.valueOf(file.getFileName());
        return name.equals(layout.base() + "." + UPDATE)
                || (name.startsWith(layout.base() + "." + MODELS) && name.endsWith("." + UPDATE));
    }

    /** The key, if there is one. */
    public Optional<UpdateKey> signer() {
        return key.map(UpdateKey::read);
    }
}
