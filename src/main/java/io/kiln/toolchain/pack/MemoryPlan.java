// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import java.util.List;

/**
 * The memories of a device by what a program uses them for.
 *
 * @param regions by address, code and variables among them
 * @param code name of the memory of code
 * @param workspace names of the memories of workspaces, the one of variables last
 * @param constants names of the memories of constants, the one of code first
 * @param isNothingBelow whether nothing that can be written lies in the 16 MiB below the variables
 * @param questions what the pack leaves open
 */
record MemoryPlan(
        List<Region> regions,
        String code,
        List<String> workspace,
        List<String> constants,
        boolean isNothingBelow,
        List<String> questions) {
    MemoryPlan {
        regions = List.copyOf(regions);
        workspace = List.copyOf(workspace);
        constants = List.copyOf(constants);
        questions = List.copyOf(questions);
    }

    /**
     * A memory of the board.
     *
     * @param name a lower-case name of C
     * @param isRom whether it keeps its content
     * @param speed as board profiles write it
     * @param isFetched whether code may be fetched from it over the bus of loads and stores
     */
    record Region(String name, boolean isRom, long base, long size, String speed, boolean isFetched) {
        static final String NORMAL = "normal";
        static final String FAST = "fast";
        static final String SLOW = "slow";

        long end() {
            return base + size;
        }
    }

    Region region(String name) {
        return regions.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** The memory of variables and stack. */
    String data() {
        return workspace.get(workspace.size() - 1);
    }
}
