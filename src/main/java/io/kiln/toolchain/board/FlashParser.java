// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Problems;
import io.kiln.toolchain.board.Board.ChipId;
import io.kiln.toolchain.board.Board.OpenOcd;
import java.util.Optional;

/** Parses the key {@code flash} of a profile that satisfies the schema. */
final class FlashParser {
    private static final long ALL_BITS = 0xffffffffL;

    private final MergedProfile profile;
    private final Problems problems;

    FlashParser(MergedProfile profile, Problems problems) {
        this.profile = profile;
        this.problems = problems;
    }

    /** How OpenOCD reaches the board, if it can. */
    Optional<OpenOcd> openOcd() {
        return profile.find("flash")
                .map(node -> node.get("openocd"))
                .map(node -> new OpenOcd(
                        node.path("interface").asText(),
                        node.get("target").asText(),
                        Optional.ofNullable(node.get("transport")).map(JsonNode::asText),
                        node.path("speed").asInt(0),
                        Optional.ofNullable(node.get("chipId")).map(this::chipId)));
    }

    private ChipId chipId(JsonNode node) {
        ChipId id = new ChipId(
                node.get("address").asLong(),
                node.path("mask").asLong(ALL_BITS),
                node.get("value").asLong());
        if ((id.value() & ~id.mask()) != 0) {
            problems.add(
                    String.format("the chip id 0x%08x has bits outside its mask 0x%08x", id.value(), id.mask()),
                    profile.where("/flash/openocd/chipId/value"),
                    "a value that the masked word can have",
                    "");
        }
        return id;
    }
}
