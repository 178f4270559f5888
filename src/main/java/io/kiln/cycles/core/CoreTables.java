// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.core;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.ResourceTree;
import io.kiln.cycles.core.CoreTimings.Pairing;
import io.kiln.cycles.core.CoreTimings.Price;
import io.kiln.cycles.decode.InstructionKind;
import io.kiln.toolchain.yaml.YamlDocument;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Reads the tables of cores' instruction timings, {@code toolchains/cores/*.yaml}, and finds one by the compiler's name of a core. */
public final class CoreTables {
    private static final String FOLDER = "toolchains/cores";

    private CoreTables() {}

    /** The tables of all cores, sorted by file name. */
    public static List<CoreTimings> all() {
        return Shipped.CORES;
    }

    /** Read when they are first asked for, and once: they are part of the plugin. */
    private static final class Shipped {
        private static final List<CoreTimings> CORES = ResourceTree.read(FOLDER).entrySet().stream()
                .map(file -> parse(file.getKey(), file.getValue()))
                .toList();
    }

    /**
     * The table of a core.
     *
     * @param cpu value of {@code -mcpu} or {@code -march}; what follows a plus sign does not matter
     * @return empty if there is none
     */
    public static Optional<CoreTimings> find(String cpu) {
        String name = cpu.contains("+") ? cpu.substring(0, cpu.indexOf('+')) : cpu;
        return all().stream().filter(core -> core.cpus().contains(name)).findFirst();
    }

    /**
     * As {@link #find}.
     *
     * @throws KilnException if there is none
     */
    public static CoreTimings require(String cpu) {
        return find(cpu)
                .orElseThrow(() -> Failure.PROFILE.exception(
                        "no instruction timings are known of the core \"" + cpu + "\"",
                        FOLDER,
                        all().stream()
                                .flatMap(core -> core.cpus().stream())
                                .collect(Collectors.joining(", ", "one of ", "")),
                        ""));
    }

    /** Reads a table that fits the schema. */
    static CoreTimings parse(String file, Bytes content) {
        JsonNode root = YamlDocument.parse(file, content).root();
        Map<InstructionKind, Price> prices = new EnumMap<>(InstructionKind.class);
        root.path("prices").properties().forEach(entry -> {
            InstructionKind kind = InstructionKind.of(entry.getKey())
                    .orElseThrow(() -> Failure.PROFILE.exception(
                            "there is no kind of instruction \"" + entry.getKey() + "\"", file, "", ""));
            prices.put(kind, price(entry.getValue()));
        });
        List<String> cpus = new ArrayList<>();
        root.path("cpus").forEach(cpu -> cpus.add(cpu.asText()));
        return new CoreTimings(
                root.path("id").asText(),
                root.path("title").asText(),
                cpus,
                pairing(root.path("pairing")),
                range(root.path("taken").path("cycles")),
                range(root.path("addressDependency").path("cycles")),
                prices);
    }

    private static Optional<Pairing> pairing(JsonNode node) {
        if (node.isMissingNode()) {
            return Optional.empty();
        }
        Map<String, Integer> units = new TreeMap<>();
        node.path("units")
                .properties()
                .forEach(unit -> units.put(unit.getKey(), unit.getValue().asInt()));
        return Optional.of(new Pairing(node.path("narrow").asBoolean(), units));
    }

    private static Price price(JsonNode node) {
        return new Price(
                range(node.path("cycles")),
                range(node.path("perWord")),
                optional(node.path("behindAccess")),
                optional(node.path("taken")),
                range(node.path("latency")),
                range(node.path("busy")),
                node.path("unit").asText("alu"));
    }

    private static Optional<CycleRange> optional(JsonNode node) {
        return node.isMissingNode() ? Optional.empty() : Optional.of(range(node));
    }

    /** One number, or the three of a range; 0 if there is none. */
    private static CycleRange range(JsonNode node) {
        return node.isArray()
                ? new CycleRange(
                        node.get(0).asLong(), node.get(1).asLong(), node.get(2).asLong())
                : CycleRange.exactly(node.asLong());
    }
}
