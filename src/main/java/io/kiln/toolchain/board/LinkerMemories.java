// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Bytes;
import io.kiln.base.Problems;
import io.kiln.toolchain.board.Board.Kind;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.BoardFiles.MergedProfile;
import io.kiln.toolchain.fence.ScriptRegions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The {@code MEMORY} of linker scripts, made from the memories and pools of a profile, so that no script needs numbers of its own. Scripts
 * include {@code memories.ld}; {@code memories.parameters.ld} and {@code memories.slots.ld} leave room for what their names say.
 */
final class LinkerMemories {
    /** The script that scripts include. */
    static final String FILE = "memories.ld";

    /** Names that scripts use for something else, or that linkers read as a command. */
    private static final Set<String> TAKEN = Set.of(
            "CODE",
            "DATA",
            "CONSTANTS",
            "MORE_CONSTANTS",
            "FAST_CODE",
            "FAST_DATA",
            "PARAMETERS",
            "FIRMWARE",
            "SLOT",
            "INCLUDE",
            "ORIGIN",
            "LENGTH");

    private final List<Memory> memories;
    private final PoolMemories pools;
    private final Map<Memory, String> names = new LinkedHashMap<>();

    /**
     * @param memories all memories of the profile
     * @param pools which of them holds what; every name exists
     */
    LinkerMemories(List<Memory> memories, PoolMemories pools) {
        this.memories = memories;
        this.pools = pools;
        Set<String> taken = new HashSet<>(TAKEN);
        for (Memory memory : inOrder()) {
            String name = memory.name().toUpperCase(Locale.ROOT);
            if (memory.name().equals(pools.code())) {
                name = "CODE";
            } else if (memory.name().equals(pools.variables())) {
                name = "DATA";
            } else {
                while (!taken.add(name)) {
                    name += "_";
                }
            }
            names.put(memory, name);
        }
    }

    /**
     * A memory of a script.
     *
     * @param name its name there
     * @param access what linkers may place there
     * @param base first address
     * @param size bytes
     */
    record Region(String name, String access, long base, long size) {
        /** The address after the last byte. */
        long end() {
            return base + size;
        }
    }

    /** The scripts, text by name. */
    SortedMap<String, Bytes> files() {
        SortedMap<String, Bytes> files = new TreeMap<>();
        files.put(FILE, Bytes.ofText(print(regions())));
        if (pools.parameters().isPresent()) {
            files.put(LinkerVariant.PARAMETERS.of(FILE), Bytes.ofText(print(withParameters())));
        }
        pools.slots()
                .ifPresent(slots -> files.put(LinkerVariant.SLOTS.of(FILE), Bytes.ofText(print(withSlots(slots)))));
        return files;
    }

    /** The memories of images with everything in its usual place. */
    List<Region> regions() {
        List<Region> regions = new ArrayList<>();
        names.forEach((memory, name) -> regions.add(new Region(name, access(memory), memory.base(), memory.size())));
        return regions;
    }

    /** The memories of images whose parameters have flash sectors of their own. */
    List<Region> withParameters() {
        long first = pools.parameters().orElseThrow();
        List<Region> regions = cut(regions(), first);
        memories.stream()
                .filter(memory -> memory.base() <= first && first < memory.end())
                .forEach(memory -> regions.add(new Region("PARAMETERS", "r", first, memory.end() - first)));
        return regions;
    }

    /** The memories of images whose models lie in slots. */
    List<Region> withSlots(ModelSlots slots) {
        long firmware = slots.first() - ModelSlots.FIRMWARE_BYTES;
        List<Region> regions = cut(cut(cut(regions(), firmware), slots.second()), slots.memory());
        regions.add(new Region("FIRMWARE", "r", firmware, ModelSlots.FIRMWARE_BYTES));
        regions.add(new Region("SLOT", "rx", slots.first(), slots.bytes()));
        return regions;
    }

    /** Whether a region lies in one of these memories, or was made beside them. */
    boolean isOf(Region region, List<String> used) {
        return memories.stream().noneMatch(memory -> memory.base() == region.base() && !used.contains(memory.name()));
    }

    private static List<Region> cut(List<Region> regions, long at) {
        List<Region> cut = new ArrayList<>();
        for (Region region : regions) {
            boolean isInside = region.base() < at && at < region.end();
            cut.add(isInside ? new Region(region.name(), region.access(), region.base(), at - region.base()) : region);
        }
        return cut;
    }

    /** Linkers place what a script does not mention in the first memory that allows it: code, constants, variables, then the others. */
    private List<Memory> inOrder() {
        TreeMap<Integer, List<Memory>> ranks = new TreeMap<>();
        for (Memory memory : memories) {
            int rank = memory.name().equals(pools.code())
                    ? 0
                    : pools.constants().contains(memory.name())
                            ? 1
                            : memory.name().equals(pools.variables()) ? 2 : 3;
            ranks.computeIfAbsent(rank, any -> new ArrayList<>()).add(memory);
        }
        return ranks.values().stream().flatMap(List::stream).toList();
    }

    private String access(Memory memory) {
        if (memory.kind() == Kind.ROM) {
            return memory.name().equals(pools.code()) ? "rx" : "r";
        }
        return memory.name().equals(pools.code())
                        || (memory.fetch().isPresent() && !memory.name().equals(pools.variables()))
                ? "rwx"
                : "rw";
    }

    private String print(List<Region> regions) {
        StringBuilder out = new StringBuilder("/* Made from board.yaml. */\nMEMORY\n{\n");
        for (Region region : regions) {
            out.append(String.format(
                    Locale.ROOT,
                    "  %s (%s) : ORIGIN = 0x%08x, LENGTH = %s\n",
                    region.name(),
                    region.access(),
                    region.base(),
                    size(region.size())));
        }
        out.append("}\n\n");
        alias(out, "CONSTANTS", Optional.of(pools.code()));
        alias(out, "MORE_CONSTANTS", pools.moreConstants());
        alias(out, "FAST_CODE", pools.ram().code());
        alias(out, "FAST_DATA", pools.ram().weights());
        sections(out);
        return out.toString();
    }

    private void alias(StringBuilder out, String alias, Optional<String> memory) {
        memory.flatMap(this::region)
                .ifPresent(name -> out.append("REGION_ALIAS(\"")
                        .append(alias)
                        .append("\", ")
                        .append(name)
                        .append(")\n"));
    }

    private Optional<String> region(String memory) {
        return names.entrySet().stream()
                .filter(each -> each.getKey().name().equals(memory))
                .map(Map.Entry::getValue)
                .findFirst();
    }

    /** Sections of the pools that are neither the code's nor the variables'. */
    private void sections(StringBuilder out) {
        StringBuilder sections = new StringBuilder();
        for (String name : pools.constants().subList(1, pools.constants().size())) {
            region(name)
                    .ifPresent(region -> sections.append(String.format(
                            Locale.ROOT,
                            "  .rodata.%1$s : { *(%2$s) } > %3$s\n",
                            name,
                            InterfaceNames.constantsSection(name),
                            region)));
        }
        for (String name : pools.workspace().subList(0, pools.workspace().size() - 1)) {
            String section = InterfaceNames.workspaceSection(name);
            region(name)
                    .ifPresent(region -> sections.append(
                            String.format(Locale.ROOT, "  %1$s (NOLOAD) : { *(%1$s) } > %2$s\n", section, region)));
        }
        if (sections.length() > 0) {
            out.append("\nSECTIONS\n{\n").append(sections).append("}\n");
        }
    }

    private static String size(long bytes) {
        return bytes % (1 << 20) == 0
                ? (bytes >> 20) + "M"
                : bytes % (1 << 10) == 0 ? (bytes >> 10) + "K" : Long.toString(bytes);
    }

    /** Linker scripts that a board has beside its usual one, {@code memory.more.ld} beside {@code memory.ld}. */
    enum LinkerVariant {
        /** The script of images with constants in a second memory. */
        MORE,
        /** The script of images whose parameters have flash sectors of their own. */
        PARAMETERS,
        /** The script of images whose models lie in slots. */
        SLOTS;

        /** The file of this script, given the usual one's. */
        String of(String usual) {
            return usual.replaceFirst("\\.ld$", "." + name().toLowerCase(Locale.ROOT) + ".ld");
        }
    }

    /**
     * Compares what linker scripts say of memories with what the profile says. A script may divide a memory, and join neighbours; it has to use all
     * of those that images need, and nothing else. A script without memories says nothing that could differ.
     */
    static final class LinkerCheck {
        private final MergedProfile profile;
        private final Problems problems;
        private final LinkerMemories memories;
        private final PoolMemories pools;
        private final SortedMap<String, String> scripts = new TreeMap<>();

        /** @param files all files of the board, with the scripts that are made from the profile */
        LinkerCheck(
                MergedProfile profile,
                Problems problems,
                LinkerMemories memories,
                PoolMemories pools,
                SortedMap<String, Bytes> files) {
            this.profile = profile;
            this.problems = problems;
            this.memories = memories;
            this.pools = pools;
            files.forEach((name, content) -> {
                if (name.endsWith(".ld")) {
                    scripts.put(name, content.text());
                }
            });
        }

        /** Addresses from the first one up to, but not including, the end. */
        private record Range(long base, long end) {
            boolean has(Range other) {
                return base <= other.base && other.end <= end;
            }

            @Override
            public String toString() {
                return String.format(Locale.ROOT, "0x%08x to 0x%08x", base, end - 1);
            }
        }

        /** Adds a problem for each script of the board that differs. */
        void check(String usual) {
            List<String> used = new ArrayList<>(List.of(pools.code(), pools.variables()));
            used.addAll(pools.workspace());
            used.addAll(pools.constants());
            pools.ram().code().ifPresent(used::add);
            pools.ram().weights().ifPresent(used::add);
            check(usual, memories.regions(), used);
            if (pools.parameters().isPresent()) {
                check(LinkerVariant.PARAMETERS.of(usual), memories.withParameters(), used);
            }
            pools.slots().ifPresent(slots -> check(LinkerVariant.SLOTS.of(usual), memories.withSlots(slots), used));
            pools.moreConstants().ifPresent(more -> {
                used.add(more);
                check(LinkerVariant.MORE.of(usual), memories.regions(), used);
            });
        }

        private void check(String script, List<Region> expected, List<String> used) {
            List<ScriptRegions.Region> given = ScriptRegions.of(script, scripts);
            if (given.isEmpty()) {
                return;
            }
            List<String> differences = new ArrayList<>();
            List<Range> allowed =
                    joined(expected.stream().map(LinkerCheck::range).toList());
            List<Range> found = new ArrayList<>();
            for (ScriptRegions.Region region : given) {
                if (region.base().isEmpty() || region.size().isEmpty()) {
                    differences.add(region.name() + " has no numbers that can be compared");
                    continue;
                }
                Range range = new Range(
                        region.base().get(), region.base().get() + region.size().get());
                found.add(range);
                if (allowed.stream().noneMatch(each -> each.has(range))) {
                    differences.add(region.name() + " is " + range + ", where the board has no memory for it");
                }
            }
            List<Range> covered = joined(found);
            for (Region region : expected) {
                if (memories.isOf(region, used) && covered.stream().noneMatch(each -> each.has(range(region)))) {
                    differences.add("not all of " + range(region) + " is used");
                }
            }
            if (!differences.isEmpty()) {
                problems.add(
                        "the linker script " + script + " and the memories of the board differ: "
                                + String.join("; ", differences),
                        profile.fileWhere(given.get(0).file()) + ":"
                                + given.get(0).line(),
                        expected.stream()
                                        .filter(region -> memories.isOf(region, used))
                                        .map(region -> region.name() + " " + range(region))
                                        .collect(Collectors.joining(", "))
                                + ", as " + profile.where("/memories") + " says",
                        "Write INCLUDE " + madeFor(script) + " in place of MEMORY: its numbers are those of the board");
            }
        }

        private String madeFor(String script) {
            String variant = script.replaceFirst("^.*?((\\.(more|parameters|slots))?\\.ld)$", "$1");
            String made = LinkerMemories.FILE.replace(".ld", variant);
            return scripts.containsKey(made) ? made : LinkerMemories.FILE;
        }

        private static Range range(Region region) {
            return new Range(region.base(), region.end());
        }

        /** The same addresses in as few ranges as possible. */
        private static List<Range> joined(List<Range> ranges) {
            List<Range> joined = new ArrayList<>();
            for (Range range : ranges.stream()
                    .sorted(Comparator.comparingLong(Range::base))
                    .toList()) {
                Range last = joined.isEmpty() ? new Range(-1, -1) : joined.get(joined.size() - 1);
                if (range.base <= last.end) {
                    joined.set(joined.size() - 1, new Range(last.base, Math.max(last.end, range.end)));
                } else {
                    joined.add(range);
                }
            }
            return joined;
        }
    }
}
