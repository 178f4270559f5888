// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Problems;
import io.kiln.toolchain.board.Board.Kind;
import io.kiln.toolchain.board.Board.Memory;
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
}
