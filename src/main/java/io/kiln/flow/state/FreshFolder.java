// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import io.kiln.base.FileFailure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Empties folders that belong to the build. */
public final class FreshFolder {
    private FreshFolder() {}

    /** Deletes everything in a folder, so that no output of an earlier run remains; does nothing if there is no folder. */
    public static void clear(Path folder) {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (Stream<Path> walk = Files.walk(folder)) {
            List<Path> inside = walk.filter(path -> !path.equals(folder))
                    .sorted(Comparator.reverseOrder())
                    .toList();
            for (Path path : inside) {
                Files.delete(path);
            }
        } catch (IOException | UncheckedIOException e) {
            throw FileFailure.of("cannot empty", folder, e);
        }
    }
}
