// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import io.kiln.target.InstructionCache;
import io.kiln.target.InstructionCache.SizeClass;
import java.util.List;
import java.util.Optional;

/**
 * The records that come with Kiln: for each core what {@code kiln:tune} found to be better than the rules' choices, on a built-in board. Those
 * that minimise cycles lie in {@code toolchains/tuning/<core>.log}, those of another objective in {@code
 * toolchains/tuning/<objective>/<core>.log}. What minimises the cycles of boards whose flash waits lies in {@code
 * toolchains/tuning/board-cycles/<class>/<core>.log}, by the class of their caches of code.
 */
public final class ShippedRecords {
    private static final String FOLDER = "toolchains/tuning";
    private static final String LOG = ".log";
    private static final String CYCLES = "cycles";

    private ShippedRecords() {}

    /**
     * The text of a core's log; empty if there is none.
     *
     * @param core value of {@code -mcpu} or {@code -march}
     * @param objective what the records minimise, {@code cycles} or {@code instructions}, or {@code board-cycles/<class>}
     */
    public static Optional<String> text(String core, String objective) {
        return Optional.ofNullable(ResourceTree.read(FOLDER).get(file(core, objective)))
                .map(Bytes::text);
    }

    private static String file(String core, String objective) {
        return (objective.equals(CYCLES) ? "" : objective + "/") + core + LOG;
    }

    /** The records of a core that minimise the cycles of boards with a cache of code as the target states it; none if it states none. */
    public static List<TuningRecord> ofBoardCycles(String core, String target) {
        return InstructionCache.stated(target).stream()
                .mapToObj(bytes -> of(core, "board-cycles/" + SizeClass.of(bytes).text()))
                .flatMap(List::stream)
                .filter(record -> InstructionCache.holds(record.task().target(), target))
                .toList();
    }

    /** The records of a core, as {@link #text}. */
    public static List<TuningRecord> of(String core, String objective) {
        return text(core, objective)
                .map(text -> RecordReader.parse(text, FOLDER + "/" + file(core, objective))
                        .records())
                .orElse(List.of());
    }
}
