// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import java.util.List;
import java.util.Optional;

/**
 * The records that come with Kiln: for each core what {@code kiln:tune} found to be better than the rules' choices, on a built-in board. They
 * lie in {@code toolchains/tuning/<core>.log}.
 */
public final class ShippedRecords {
    private static final String FOLDER = "toolchains/tuning";
    private static final String LOG = ".log";

    private ShippedRecords() {}

    /**
     * The text of a core's log; empty if there is none.
     *
     * @param core value of {@code -mcpu} or {@code -march}
     */
    public static Optional<String> text(String core) {
        return Optional.ofNullable(ResourceTree.read(FOLDER).get(core + LOG)).map(Bytes::text);
    }

    /** The records of a core. */
    public static List<TuningRecord> of(String core) {
        return text(core)
                .map(text -> RecordReader.parse(text, FOLDER + "/" + core + LOG).records())
                .orElse(List.of());
    }
}
