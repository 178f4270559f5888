// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.toolchain.board.MergedProfile.Layer;
import io.kiln.toolchain.pack.DeviceBoard;
import io.kiln.toolchain.pack.PackSource;
import io.kiln.toolchain.pack.Packs;
import io.kiln.toolchain.yaml.YamlDocument;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Makes the profile that the key {@code device} stands for: what a pack says of a device, between a profile and the one that it extends. */
final class DeviceProfile {
    /** The key, and the built-in profile with console and start-up code for devices of which nothing more is known. */
    static final String KEY = "device";

    private DeviceProfile() {}

    /**
     * The profile of the device.
     *
     * @param layers the profiles read so far, of which the last one names the device
     * @param place where that one lies
     * @param id its folder
     * @throws KilnException if the pack or the device cannot be used
     */
    static Layer of(List<Layer> layers, BoardFiles place, String id, PackSource packs) {
        YamlDocument document = layers.get(layers.size() - 1).document();
        JsonNode device = document.root().path(KEY);
        String pack = device.path("pack").asText();
        Path file = packs.find(pack, folder(place, id, pack, document));
        OptionalLong hertz = layers.stream()
                .map(layer -> layer.document().root().at("/timer/hertz"))
                .filter(JsonNode::isIntegralNumber)
                .mapToLong(JsonNode::asLong)
                .findFirst();
        DeviceBoard.Request request = new DeviceBoard.Request(
                device.path("name").asText(),
                device.path("offset").asLong(0),
                hertz,
                document.root().path("extends").asText(KEY).equals(KEY));
        try {
            DeviceBoard board = DeviceBoard.of(Packs.open(file), request, KEY);
            YamlDocument made = YamlDocument.parse(
                    "device " + board.device() + " of " + file, board.files().get(BoardFiles.DESCRIPTOR));
            Layer.Pack origin = new Layer.Pack(file, board.most());
            return new Layer(made, board.files(), Optional.empty(), Optional.of(origin));
        } catch (KilnException e) {
            throw e.relocated("kiln.device", document.where("/device/name"))
                    .relocated("device.offset", document.where("/device/offset"));
        }
    }

    /** Only a profile of the project itself may name a file: it is the user's own. */
    private static Path folder(BoardFiles place, String id, String pack, YamlDocument document) {
        if (place instanceof BoardFiles.Folder folder) {
            return folder.root().resolve(id);
        }
        if (!PackSource.areCoordinates(pack)) {
            throw new KilnException(Failure.BOARD.problem(
                    "a profile from a repository names a pack by a path",
                    document.where("/device/pack"),
                    "group:artifact:version",
                    ""));
        }
        return Path.of("");
    }

    /** Checks that the core counts no more cycles in a second than the device takes. */
    static void checkClock(Board board, MergedProfile profile, Problems problems) {
        OptionalLong most = profile.pack().map(Layer.Pack::most).orElse(OptionalLong.empty());
        board.timer()
                .filter(timer -> timer.countsCycles() && most.isPresent() && timer.hertz() > most.getAsLong())
                .ifPresent(timer -> problems.add(
                        "the core's clock is " + timer.hertz() + " Hz",
                        profile.exactly("/timer/hertz"),
                        "at most " + most.getAsLong() + ", which the device takes",
                        "Give the board start-up code for this device, and its clock"));
    }
}
