// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.base.Failure;
import io.kiln.flow.spec.UpdateSpec;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.maven.settings.Server;
import org.apache.maven.settings.Settings;

/** {@code <update>}: how models are replaced in the field. */
public final class Update {
    private static final Element MODE = Element.of(
                    "mode",
                    "none",
                    "What is replaced in the field without the firmware: none, or slots for the models, which lie in"
                            + " one of two slots of the board's flash; IMAGE.update then has them for both.")
            .ofGroup();
    private static final Element KEY = Element.of(
            "key",
            "The file of the Ed25519 key that signs updates: PKCS#8 in PEM, not encrypted, outside of the project's"
                    + " repository. Firmware has only the public key.");
    private static final Element SERVER = Element.of(
            "server",
            "Id of a server in settings.xml whose privateKey is the file of the key, if kiln.update.key is not set.");
    private static final Element MINIMUM_FIRMWARE = Element.of(
                    "minimumFirmware",
                    "0.0.0",
                    "The oldest version of the firmware that the models work with; devices with an older one refuse"
                            + " them.")
            .alone("minimumFirmware");

    private static final Element IMAGE_HEADER = Element.of(
                    "imageHeader",
                    "none",
                    "The header before the whole image: none, or mcuboot for IMAGE.mcuboot.bin in the format of the"
                            + " boot loader MCUboot, signed if there is a key.")
            .single();

    public static final ParameterGroup GROUP =
            new ParameterGroup("update", MODE, KEY, SERVER, MINIMUM_FIRMWARE, IMAGE_HEADER);

    private Update() {}

    /**
     * How the image is updated.
     *
     * @param models version of the models
     * @param firmware version of the firmware
     * @param settings the user's, which may name the key
     */
    public static UpdateSpec spec(GroupValues update, String models, String firmware, Settings settings) {
        return UpdateSpec.of(
                update.text(MODE),
                update.text(IMAGE_HEADER),
                key(update, settings),
                new UpdateSpec.Versions(models, firmware, update.text(MINIMUM_FIRMWARE)));
    }

    private static Optional<Path> key(GroupValues update, Settings settings) {
        Optional<String> server = update.find(SERVER).filter(id -> !id.isBlank());
        return update.file(KEY).or(() -> server.map(id -> key(settings.getServer(id), id)));
    }

    private static Path key(Server server, String id) {
        if (server == null || server.getPrivateKey() == null) {
            throw Failure.UPDATE.exception(
                    "settings.xml has no private key for '" + id + "'",
                    "kiln.update.server",
                    "a <server> with this <id> and a <privateKey>, the path of the key",
                    "Add it, or set kiln.update.key");
        }
        return Path.of(server.getPrivateKey());
    }
}
