// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.board;

import io.kiln.artifact.InterfaceNames;
import io.kiln.firmware.image.Measurement;
import io.kiln.firmware.image.Measurement.Region;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.PoolMemories;

/** The source of an application that fills the memories of a board's pools: an array in each of them takes what an empty application leaves. */
final class LargestApplication {
    /** Left free for the code that touches the arrays, and for gaps between sections. */
    private static final long SPARE = 256;

    /** Images are files: of larger memories, as much as this is filled. */
    private static final long MOST_CONTENT = 16 << 20;

    private final Measurement empty;
    private final StringBuilder arrays = new StringBuilder();
    private final StringBuilder sum = new StringBuilder();

    private LargestApplication(Measurement empty) {
        this.empty = empty;
    }

    /**
     * The source, in C.
     *
     * @param board a board with pools
     * @param empty what an empty application takes of it
     */
    static String of(Board board, Measurement empty) {
        LargestApplication application = new LargestApplication(empty);
        PoolMemories pools = board.pools().orElseThrow();
        for (String memory : pools.constants()) {
            boolean isUsual = memory.equals(pools.code());
            application.add("const ", memory, isUsual ? "" : InterfaceNames.constantsSection(memory), " = {1}");
        }
        for (String memory : pools.workspace()) {
            boolean isUsual = memory.equals(pools.variables());
            application.add("", memory, isUsual ? "" : InterfaceNames.workspaceSection(memory), "");
        }
        return "/* SPDX-License-Identifier: Apache-2.0 */\n" + application.arrays
                + "static volatile unsigned at;\n\nint main(void) {\n  return 0" + application.sum + ";\n}\n";
    }

    private void add(String qualifier, String memory, String section, String value) {
        long free = empty.regions().stream()
                        .filter(region -> region.name().equals(memory))
                        .mapToLong(LargestApplication::free)
                        .sum()
                - SPARE;
        long bytes = value.isEmpty() ? free : Math.min(free, MOST_CONTENT);
        if (bytes > 0) {
            String placed = section.isEmpty() ? "" : "__attribute__((section(\"" + section + "\"))) ";
            arrays.append(placed + qualifier + "unsigned char in_" + memory + "[" + bytes + "u]" + value + ";\n");
            sum.append(" + in_" + memory + "[at]");
        }
    }

    private static long free(Region region) {
        return region.available() - region.used();
    }
}
