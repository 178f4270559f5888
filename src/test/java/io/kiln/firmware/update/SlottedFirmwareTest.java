// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.TestFirmware;
import io.kiln.firmware.update.SlottedFirmware.ModelInterface;
import io.kiln.firmware.update.SlottedFirmware.SlotRequest;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SlottedFirmwareTest {
    @TempDir
    Path folder;

    @Test
    void whatSlotsCannotHoldIsRefusedAtOnce() throws IOException {
        String id = "b".repeat(32);
        Path board = Files.createDirectories(folder.resolve("boards").resolve(id));
        Files.writeString(board.resolve("board.yaml"), "schema: 1\nid: " + id + "\ntitle: Long\nextends: mps2-an386\n");
        ModelLibrary plain = TestFirmware.model("default", 100);
        ModelMetadata known = plain.metadata();
        ModelMetadata other = new ModelMetadata(
                known.name(),
                known.target(),
                ModelMetadata.Interface.typed(Io.WORKSPACE, known.inputs(), known.outputs()),
                known.memory(),
                known.plan(),
                known.operators());
        FirmwareRequest request = TestFirmware.request(
                Boards.builtIn().with(folder.resolve("boards")).find(id),
                "clang",
                Optimize.SPEED,
                List.of(new ModelLibrary(other, plain.artifacts())),
                folder);
        UpdateVersion one = new UpdateVersion(1, 0, 0);
        SlotRequest slots = new SlotRequest(TestKeys.key(folder, 1), one, one, new UpdateVersion(1, 0, 1));

        assertThatThrownBy(() -> SlottedFirmware.of(request, slots, folder.resolve("slots")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the id of the board is too long for the header of an update: " + id)
                .hasMessageContaining("models in slots are called by the C interface")
                .hasMessageContaining("kiln.update.minimumFirmware is 1.0.1, above this firmware's version 1.0.0");
    }

    /** Devices hold the digest of this text, so that it must stay as it is. */
    @Test
    void theInterfaceIsTheSameOnEveryJava() {
        ModelInterface models = new ModelInterface(List.of(TestFirmware.model("default", 100)));
        assertThat(models.tensors()).isEqualTo("""
            default input x int8[1, 16] scale 3f800000 zero point 0
            default output y int8[1, 16] scale 3f800000 zero point 0
            """);
        assertThat(models.digest()).isEqualTo(Bytes.wrap(HexFormat.of().parseHex("5c462d39c199f881aac83c5f57854fc9")));
    }

    @Test
    void aBoardWithoutSlotsIsRefused() {
        UpdateVersion one = new UpdateVersion(1, 0, 0);
        SlotRequest slots = new SlotRequest(TestKeys.key(folder, 1), one, one, one);
        assertThatThrownBy(() -> SlottedFirmware.of(
                        TestFirmware.request("microbit", "clang", folder), slots, folder.resolve("slots")))
                .hasMessageContaining("the board microbit has no slots for models");
    }
}
