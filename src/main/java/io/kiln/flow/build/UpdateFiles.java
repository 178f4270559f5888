// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.WholeFiles;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.image.Image;
import io.kiln.firmware.update.McubootImage;
import io.kiln.firmware.update.SlottedFirmware;
import io.kiln.firmware.update.UpdateFile;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.UpdateSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Puts models into slots if a build wants that, and writes the files that update devices in the field. */
final class UpdateFiles {
    private final BuildSpec.Layout layout;
    private final UpdateSpec spec;
    private Optional<UpdateFile> update = Optional.empty();

    UpdateFiles(BuildSpec build) {
        this.layout = build.layout();
        this.spec = build.update();
    }

    /** The firmware, with its models in slots if the build wants that. */
    FirmwareRequest with(FirmwareRequest plain) {
        if (!spec.hasSlots()) {
            return plain;
        }
        SlottedFirmware slotted =
                SlottedFirmware.of(plain, spec.slots(), layout.reports().resolve("slots"));
        update = Optional.of(slotted.update());
        return slotted.request();
    }

    /**
     * Writes the update ({@link UpdateSpec#file}) and {@code <base>.mcuboot.bin}, or removes those of an earlier build.
     *
     * @return a line that says what was written
     */
    Optional<String> write(Image image) {
        Path whole = layout.image("mcuboot.bin");
        try {
            Files.deleteIfExists(whole);
            deleteEarlier();
            if (spec.isForMcuboot()) {
                WholeFiles.write(whole, mcuboot(image).toArray());
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot write", whole, e);
        }
        return update.map(file -> {
            Path models = spec.file(layout);
            WholeFiles.write(models, file.bytes().toArray());
            return "Models in version " + file.regions().get(0).version() + " for the field: " + models;
        });
    }

    private void deleteEarlier() throws IOException {
        try (Stream<Path> files = Files.list(layout.out())) {
            for (Path file :
                    files.filter(each -> UpdateSpec.isFile(layout, each)).toList()) {
                Files.delete(file);
            }
        }
    }

    private Bytes mcuboot(Image image) throws IOException {
        Path binary = image.bin()
                .orElseThrow(() -> Failure.UPDATE.exception(
                        "MCUboot's header goes before a flat binary, and this image has none",
                        "kiln.imageHeader",
                        "a board whose memories lie close together"));
        return McubootImage.of(Bytes.wrap(Files.readAllBytes(binary)), spec.firmware(), spec.signer())
                .bytes();
    }
}
