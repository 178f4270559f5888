// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.task;

import io.kiln.tuning.record.TaskKey;
import io.kiln.tuning.record.TuningRecord;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Warns of records whose templates do not exist in Kiln, such as TVM's own. */
public final class ForeignRecords {
    private static final int NAMED = 3;

    private ForeignRecords() {}

    /**
     * The warning for the user; empty if all templates are Kiln's.
     *
     * @param log file of the records
     */
    public static Optional<String> said(List<TuningRecord> records, Path log) {
        return said(records, log.toString());
    }

    /** As {@link #said(List, Path)} of records that are not in a file of their own. */
    public static Optional<String> said(List<TuningRecord> records, String where) {
        List<String> templates = records.stream()
                .map(TuningRecord::task)
                .map(TaskKey::template)
                .filter(template -> !template.startsWith(TaskKeys.PREFIX))
                .toList();
        if (templates.isEmpty()) {
            return Optional.empty();
        }
        List<String> kinds = templates.stream().distinct().toList();
        String named = String.join(", ", kinds.subList(0, Math.min(NAMED, kinds.size())));
        return Optional.of(String.format(
                Locale.ROOT,
                "%d of the %d records in %s choose nothing, because their templates do not exist in Kiln: %s%s",
                templates.size(),
                records.size(),
                where,
                named,
                kinds.size() > NAMED ? " and " + (kinds.size() - NAMED) + " more" : ""));
    }
}
