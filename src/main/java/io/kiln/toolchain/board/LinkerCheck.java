// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.base.Bytes;
import io.kiln.base.Problems;
import io.kiln.toolchain.board.LinkerMemories.LinkerVariant;
import io.kiln.toolchain.board.LinkerMemories.Region;
import io.kiln.toolchain.fence.ScriptRegions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Compares what linker scripts say of memories with what the profile says. A script may divide a memory, and join neighbours; it has to use all
 * of those that images need, and nothing else. A script without memories says nothing that could differ.
 */
final class LinkerCheck {
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
        List<Range> allowed = joined(expected.stream().map(LinkerCheck::range).toList());
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
                    profile.fileWhere(given.get(0).file()) + ":" + given.get(0).line(),
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
        for (Range range :
                ranges.stream().sorted(Comparator.comparingLong(Range::base)).toList()) {
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
