// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Problems;
import io.kiln.toolchain.board.Flashing.ChipId;
import io.kiln.toolchain.board.Flashing.OpenOcd;
import io.kiln.toolchain.board.Flashing.ProjectApi;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Parses the key {@code flash} of a profile that satisfies the schema. */
final class FlashParser {
    private static final long ALL_BITS = 0xffffffffL;

    private final MergedProfile profile;
    private final Problems problems;

    FlashParser(MergedProfile profile, Problems problems) {
        this.profile = profile;
        this.problems = problems;
    }

    /** What flashes the board, if anything does. */
    Optional<Flashing> flashing() {
        return profile.find("flash")
                .map(node -> node.has("openocd")
                        ? openOcd(node.get("openocd"))
                        : node.has("service") ? service(node.get("service")) : projectApi(node.get("projectApi")));
    }

    private Flashing openOcd(JsonNode node) {
        return new OpenOcd(
                node.path("interface").asText(),
                node.get("target").asText(),
                Optional.ofNullable(node.get("transport")).map(JsonNode::asText),
                node.path("speed").asInt(0),
                Optional.ofNullable(node.get("chipId")).map(this::chipId));
    }

    private static Flashing service(JsonNode node) {
        return new Flashing.Service(node.get("name").asText(), options(node));
    }

    private static Flashing projectApi(JsonNode node) {
        return new ProjectApi(node.get("directory").asText(), options(node));
    }

    private static Map<String, String> options(JsonNode node) {
        Map<String, String> options = new TreeMap<>();
        node.path("options")
                .properties()
                .forEach(each -> options.put(each.getKey(), each.getValue().asText()));
        return options;
    }

    private ChipId chipId(JsonNode node) {
        ChipId id = new ChipId(
                node.get("address").asLong(),
                node.path("mask").asLong(ALL_BITS),
                node.get("value").asLong());
        if ((id.value() & ~id.mask()) != 0) {
            problems.add(
                    String.format(
                            Locale.ROOT, "the chip id 0x%08x has bits outside its mask 0x%08x", id.value(), id.mask()),
                    profile.where("/flash/openocd/chipId/value"),
                    "a value that the masked word can have",
                    "");
        }
        return id;
    }
}
