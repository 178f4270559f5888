// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.incremental;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The inputs and outputs of a result.
 *
 * @param inputs parts of the {@link Fingerprint} by name
 * @param outputs digests of the files written, by their path below one folder
 */
public record Made(SortedMap<String, String> inputs, SortedMap<String, String> outputs) {
    public Made {
        inputs = new TreeMap<>(inputs);
        outputs = new TreeMap<>(outputs);
    }

    /** A new result with outputs whose digests are known. */
    public static Made of(Fingerprint from, Map<String, String> outputs) {
        return new Made(new TreeMap<>(from.parts()), new TreeMap<>(outputs));
    }

    /**
     * A new result.
     *
     * @param root folder to which the outputs' names are relative
     * @param outputs files below it
     */
    public static Made of(Fingerprint from, Path root, Collection<Path> outputs) {
        Map<String, String> digests = new TreeMap<>();
        outputs.forEach(output ->
                digests.put(root.relativize(output).toString().replace('\\', '/'), Fingerprint.digest(output)));
        return of(from, digests);
    }

    /** Changed inputs: first new and different ones, then missing ones, each by name. */
    public List<Change> changes(Fingerprint now) {
        List<Change> changes = new ArrayList<>();
        now.parts().forEach((name, value) -> {
            if (!Objects.equals(inputs.get(name), value)) {
                changes.add(new Change(name, Optional.ofNullable(inputs.get(name)), Optional.of(value)));
            }
        });
        inputs.forEach((name, value) -> {
            if (!now.parts().containsKey(name)) {
                changes.add(new Change(name, Optional.of(value), Optional.empty()));
            }
        });
        return changes;
    }

    /**
     * Outputs changed since, by name.
     *
     * @param root folder to which their names are relative
     */
    public List<Change> outputChanges(Path root) {
        List<Change> changes = new ArrayList<>();
        outputs.forEach((name, before) -> {
            Optional<String> now = FileDigests.digest(root.resolve(name));
            if (!now.equals(Optional.of(before))) {
                changes.add(new Change(name, Optional.of(before), now));
            }
        });
        return changes;
    }
}
