// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Problems;
import io.kiln.base.TargetText;
import io.kiln.npu.NpuConfiguration;
import io.kiln.npu.NpuConfiguration.Product;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.BoardFiles.MergedProfile;
import io.kiln.toolchain.board.BoardNpu.VelaMemories;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The Ethos-U of a board.
 *
 * @param configuration its name, such as {@code ethos-u55-128}
 * @param base address of its registers
 * @param irq number of its interrupt; empty if the driver polls
 * @param isSecure whether it runs in the secure state
 * @param isModel whether it does not exist, so that a model in C takes the driver's place
 * @param vela what Vela is told of the memories around it; empty for Vela's defaults
 */
public record BoardNpu(
        String configuration,
        long base,
        OptionalInt irq,
        boolean isSecure,
        boolean isModel,
        Optional<VelaMemories> vela) {
    /** The code generator that takes what an NPU computes: its name in targets, and the key of memories that it reaches. */
    public static final String CODEGEN = "ethos-u";

    /**
     * What Vela is told of a board's memories: three of its options.
     *
     * @param config its configuration file: a file of the profile, or one that Vela brings, such as {@code Arm/vela.ini}
     * @param systemConfig name of a system configuration in the file
     * @param memoryMode name of a memory mode in the file
     */
    public record VelaMemories(String config, String systemConfig, String memoryMode) {}

    /** The code generator with the option that names the NPU, a part of the board's target. */
    public String target() {
        return CODEGEN + " -accelerator_config=" + configuration;
    }

    /** Reads the key {@code npu} of a profile that satisfies the schema. */
    record NpuParser(MergedProfile profile, Problems problems) {
        /** The NPU; valid only if no problem was added. */
        Optional<BoardNpu> npu(List<Memory> memories) {
            return profile.find("npu").map(node -> {
                checkMemories(memories);
                String configuration =
                        node.get("kind").asText() + "-" + node.get("macs").asInt();
                boolean isModel = node.path("model").asBoolean(false);
                if (!NpuConfiguration.NAMES.contains(configuration)) {
                    problems.add(
                            "there is no " + configuration,
                            profile.exactly("/npu/macs"),
                            Product.named(node.get("kind").asText())
                                    .map(NpuConfiguration::names)
                                    .orElse(String.join(", ", NpuConfiguration.NAMES)),
                            "Correct kind or macs");
                }
                if (isModel && configuration.startsWith(Product.U85.text())) {
                    problems.add(
                            "there is no model of an " + configuration,
                            profile.exactly("/npu/model"),
                            "an ethos-u55 or ethos-u65; what a U85 computes only a board with one can show");
                }
                if (named().isPresent()) {
                    problems.add(
                            "the target names an " + BoardNpu.CODEGEN + " of its own beside the key npu",
                            profile.exactly("/target"),
                            "one of them",
                            "Take it out of the target");
                }
                return new BoardNpu(
                        configuration,
                        node.get("base").asLong(),
                        node.has("irq") ? OptionalInt.of(node.get("irq").asInt()) : OptionalInt.empty(),
                        node.path("secure").asBoolean(true),
                        isModel,
                        Optional.of(node.path("vela"))
                                .filter(JsonNode::isObject)
                                .map(vela -> new VelaMemories(
                                        vela.get("config").asText(),
                                        vela.get("systemConfig").asText(),
                                        vela.get("memoryMode").asText())));
            });
        }

        private Optional<String> named() {
            return TargetText.parts(profile.find("target").map(JsonNode::asText).orElse("")).stream()
                    .map(TargetText::kind)
                    .filter(BoardNpu.CODEGEN::equals)
                    .findFirst();
        }

        /** Names of the memories that the NPU reaches; empty if it reaches all, or if there is none. */
        static List<String> reached(MergedProfile profile) {
            List<String> reached = new ArrayList<>();
            profile.find("npu").ifPresent(npu -> npu.path("memories").forEach(name -> reached.add(name.asText())));
            return reached;
        }

        private void checkMemories(List<Memory> memories) {
            List<String> names = memories.stream().map(Memory::name).toList();
            List<String> reached = reached(profile);
            for (int i = 0; i < reached.size(); i++) {
                if (!names.contains(reached.get(i))) {
                    problems.add(
                            "there is no memory " + reached.get(i) + " that the NPU could reach",
                            profile.exactly("/npu/memories/" + i),
                            "one of " + names);
                }
            }
        }
    }
}
