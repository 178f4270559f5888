// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Problems;
import io.kiln.base.TargetText;
import io.kiln.toolchain.board.Board.Kind;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.BoardFiles.MergedProfile;
import io.kiln.toolchain.board.BoardNpu.NpuParser;
import io.kiln.toolchain.fence.ScriptRegions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads {@code pools} of a board profile. */
record PoolsParser(MergedProfile profile, Problems problems, List<Memory> memories) {
    /** Names of memories of which there are several of one kind: they become part of C names and linker sections. */
    private static final Pattern C_NAME = Pattern.compile("[a-z][a-z0-9_]*");

    /** The pools; valid only if no problem was added. */
    PoolMemories read(JsonNode node) {
        List<String> workspace = names(node.get("workspace"));
        List<String> constants = names(node.get("constants"));
        Optional<String> more = Optional.ofNullable(node.get("moreConstants")).map(JsonNode::asText);
        check("workspace", workspace);
        check("constants", constants);
        more.ifPresent(name -> find("moreConstants", name));
        if (more.filter(constants::contains).isPresent()) {
            problems.add(
                    "both memories of constants are " + more.get(),
                    profile.where("/pools/moreConstants"),
                    "another memory");
        }
        workspace.stream()
                .filter(name ->
                        memories.stream().anyMatch(memory -> memory.name().equals(name) && memory.kind() == Kind.ROM))
                .forEach(name -> problems.add(
                        "the workspace is in " + name + ", which is rom",
                        profile.where("/pools/workspace"),
                        "a memory of kind ram"));
        new MemoryTargets(profile, problems).check(memories, workspace, constants, more);
        // The last memory of the workspace and the first of constants need no section: the linker script puts variables
        // and code there.
        checkSections("workspace", InterfaceNames::workspaceSection, workspace.subList(0, workspace.size() - 1));
        checkSections("constants", InterfaceNames::constantsSection, constants.subList(1, constants.size()));
        // An inherited address belongs to inherited memories: a profile with memories of its own does not take it.
        OptionalLong parameters = node.has("parameters") && !profile.isNearer("memories", "pools")
                ? OptionalLong.of(node.get("parameters").asLong())
                : OptionalLong.empty();
        parameters.ifPresent(address -> checkParameters(address, more.isPresent()));
        Optional<ModelSlots> slots = slotsOf(node);
        slots.ifPresent(each -> checkSlots(each, workspace.get(workspace.size() - 1)));
        PoolMemories.Copies copies = new PoolMemories.Copies(copies(node, "ramCode"), copies(node, "ramWeights"));
        copies.code()
                .ifPresent(name -> checkSections("ramCode", any -> InterfaceNames.RAM_CODE_SECTION, List.of(name)));
        copies.weights()
                .ifPresent(name ->
                        checkSections("ramWeights", any -> InterfaceNames.RAM_CONSTANTS_SECTION, List.of(name)));
        return new PoolMemories(workspace, constants, more, parameters, slots, copies);
    }

    /** The memory of what is copied to RAM; like slots, one in inherited memories is not inherited. */
    private Optional<String> copies(JsonNode node, String key) {
        if (!node.has(key) || profile.isNearer("memories", "pools") || profile.isNearer("linker", "pools")) {
            return Optional.empty();
        }
        String name = node.get(key).asText();
        find(key, name);
        if (memories.stream().anyMatch(memory -> memory.name().equals(name) && memory.kind() == Kind.ROM)) {
            problems.add(
                    "what is copied to RAM lies in " + name + ", which is rom",
                    profile.where("/pools/" + key),
                    "a memory of kind ram");
        }
        return Optional.of(name);
    }

    /** The slots of a profile. Slots in inherited memories, or for an inherited linker script, are not inherited, like the address of parameters. */
    private Optional<ModelSlots> slotsOf(JsonNode node) {
        boolean own = !profile.isNearer("memories", "pools") && !profile.isNearer("linker", "pools");
        return node.has("slots") && own ? Optional.of(slots(node.get("slots"))) : Optional.empty();
    }

    private static ModelSlots slots(JsonNode node) {
        return new ModelSlots(
                node.get("first").asLong(),
                node.get("second").asLong(),
                BoardParser.size(node.get("size")),
                node.get("memory").asLong());
    }

    private void checkSlots(ModelSlots slots, String variables) {
        boolean areInRom = slots.addresses().stream()
                .allMatch(address -> memories.stream()
                        .anyMatch(m -> m.kind() == Kind.ROM
                                && address - ModelSlots.FIRMWARE_BYTES >= m.base()
                                && address + slots.bytes() <= m.end()));
        boolean areAligned = Stream.of(slots.first(), slots.second(), slots.bytes())
                .allMatch(number -> number % ModelSlots.ALIGNMENT == 0);
        boolean areApart = Math.abs(slots.first() - slots.second()) >= slots.bytes();
        boolean isInRam = memories.stream()
                .anyMatch(m -> m.name().equals(variables) && slots.memory() > m.base() && slots.memory() < m.end());
        if (!areInRom || !areAligned || !areApart || !isInRam) {
            problems.add(
                    String.format(
                            Locale.ROOT,
                            "the slots at 0x%08x and 0x%08x, of %d bytes each, with memory from 0x%08x on, %s",
                            slots.first(),
                            slots.second(),
                            slots.bytes(),
                            slots.memory(),
                            !areApart
                                    ? "overlap"
                                    : areAligned ? "do not lie inside the board's memories" : "are not flash sectors"),
                    profile.where("/pools/slots"),
                    "flash sectors in a memory of kind rom behind the code, and an address inside the memory of"
                            + " variables");
        }
    }

    private void checkParameters(long address, boolean hasMoreConstants) {
        boolean isInRom =
                memories.stream().anyMatch(m -> m.kind() == Kind.ROM && address > m.base() && address < m.end());
        if (!isInRom || hasMoreConstants) {
            problems.add(
                    String.format(Locale.ROOT, "parameters lie at 0x%08x", address)
                            + (isInRom
                                    ? ", and the board has more constants"
                                    : ", which is inside no memory of kind rom"),
                    profile.where("/pools/parameters"),
                    "the address of a flash sector, on a board without moreConstants");
        }
    }

    private static List<String> names(JsonNode node) {
        List<String> names = new ArrayList<>();
        if (node.isArray()) {
            node.forEach(item -> names.add(item.asText()));
        } else {
            names.add(node.asText());
        }
        return names;
    }

    private void check(String pool, List<String> names) {
        names.forEach(name -> find(pool, name));
        for (String name : names) {
            if (names.size() > 1 && !C_NAME.matcher(name).matches()) {
                problems.add(
                        "the memory " + name + " is one of several pools, but no lower-case C name",
                        profile.where("/pools/" + pool),
                        "a lower-case letter, then letters, digits and underscores",
                        "Rename the memory");
            }
        }
        if (names.stream().distinct().count() < names.size()) {
            problems.add("a memory is named twice", profile.where("/pools/" + pool), "each once");
        }
    }

    private void find(String pool, String name) {
        if (memories.stream().noneMatch(memory -> memory.name().equals(name))) {
            problems.add(
                    "pools." + pool + " names the memory " + name + ", which does not exist",
                    profile.where("/pools/" + pool),
                    "one of " + memories.stream().map(Memory::name).toList());
        }
    }

    /** The scripts that the linker reads; the one that is made from the profile has all pools. */
    private Stream<String> scripts() {
        SortedMap<String, String> scripts = new TreeMap<>();
        scripts.put(
                LinkerMemories.FILE,
                memories.stream()
                        .map(memory -> InterfaceNames.workspaceSection(memory.name()) + "\n"
                                + InterfaceNames.constantsSection(memory.name()))
                        .collect(Collectors.joining("\n")));
        profile.files().forEach((name, content) -> {
            if (name.endsWith(".ld")) {
                scripts.put(name, content.text());
            }
        });
        String script = profile.find("linker").map(JsonNode::asText).orElse("");
        return ScriptRegions.read(script, scripts).stream().map(name -> scripts.get(name));
    }

    private void checkSections(String pool, UnaryOperator<String> section, List<String> names) {
        for (String name : names) {
            String wanted = section.apply(name);
            if (scripts().noneMatch(text -> text.contains(wanted))) {
                problems.add(
                        "no linker script places what lies in " + name,
                        profile.where("/pools/" + pool),
                        "an output section with *(" + wanted + ") in the memory, before INCLUDE sections.ld");
            }
        }
    }

    /** Reads which targets reach the memories of a board profile. */
    static final class MemoryTargets {
        private final MergedProfile profile;
        private final Problems problems;
        private final List<String> ofNpu;

        MemoryTargets(MergedProfile profile, Problems problems) {
            this.profile = profile;
            this.problems = problems;
            this.ofNpu = NpuParser.reached(profile);
        }

        /**
         * The keys of a memory; empty if every target reaches it. A profile that inherits its memories may have a target of its own, with fewer
         * code generators than the memories know. A memory that the NPU does not list is out of its reach.
         *
         * @param memory JSON pointer to it
         */
        List<String> read(JsonNode node, String memory) {
            List<String> keys = new ArrayList<>();
            node.path("targets").forEach(key -> keys.add(key.asText()));
            List<String> known = known();
            if (!ofNpu.isEmpty() && !ofNpu.contains(node.path("name").asText())) {
                if (keys.isEmpty()) {
                    keys.addAll(known);
                }
                keys.remove(BoardNpu.CODEGEN);
            }
            for (int i = 0; i < keys.size(); i++) {
                if (!known.contains(keys.get(i)) && !profile.isNearer("target", "memories")) {
                    problems.add(
                            "the board has no target " + keys.get(i) + " that could reach a memory",
                            profile.exactly(memory + "/targets/" + i),
                            "one of " + known,
                            "Name the code generator in the board's target, or correct the name");
                }
            }
            return keys;
        }

        /** Keys of the targets that a memory may name: the core, and the code generators of the board's own target. */
        private List<String> known() {
            List<String> known = new ArrayList<>(List.of(Artifact.HOST));
            profile.find("target").ifPresent(target -> {
                List<String> parts = TargetText.parts(target.asText());
                parts.subList(0, parts.size() - 1).forEach(part -> known.add(TargetText.kind(part)));
            });
            profile.find("npu").ifPresent(npu -> known.add(BoardNpu.CODEGEN));
            return known;
        }

        /** Checks the memories that the core needs, and those that every target does. */
        void check(List<Memory> memories, List<String> workspace, List<String> constants, Optional<String> more) {
            requireHost(memories, workspace.get(workspace.size() - 1), "variables and stack");
            requireHost(memories, constants.get(0), "the code");
            more.ifPresent(name -> requireAll(memories, name));
        }

        /** Checks that the core reaches a memory that it needs, whatever else reaches that. */
        private void requireHost(List<Memory> memories, String name, String what) {
            for (int i = 0; i < memories.size(); i++) {
                List<String> targets = memories.get(i).targets();
                boolean reaches = targets.isEmpty() || targets.contains(Artifact.HOST);
                if (memories.get(i).name().equals(name) && !reaches) {
                    problems.add(
                            "the memory " + name + " holds " + what + ", and the core does not reach it",
                            profile.exactly("/memories/" + i + "/targets"),
                            Artifact.HOST + " among its targets",
                            "Add it, or give pools another memory");
                }
            }
        }

        /** Checks that every target reaches a memory of constants: weights and tables of all targets move together. */
        private void requireAll(List<Memory> memories, String name) {
            for (int i = 0; i < memories.size(); i++) {
                if (memories.get(i).name().equals(name)
                        && !memories.get(i).targets().isEmpty()) {
                    problems.add(
                            "the memory " + name + " takes the constants of every target, and only "
                                    + String.join(", ", memories.get(i).targets()) + " reach it",
                            profile.exactly("/memories/" + i + "/targets"),
                            "a memory without targets as moreConstants",
                            "List it among pools.constants instead");
                }
            }
        }
    }
}
