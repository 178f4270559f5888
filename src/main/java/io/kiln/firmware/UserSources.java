// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import io.kiln.base.FileFailure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Reads the project's own C. */
final class UserSources {
    private UserSources() {}

    /** All files below the folder but hidden ones, by relative path; empty if there is no such folder. */
    static SortedMap<String, Bytes> read(Optional<Path> folder) {
        TreeMap<String, Bytes> files = new TreeMap<>();
        if (folder.filter(Files::isDirectory).isEmpty()) {
            return files;
        }
        Path root = folder.get();
        try (Stream<Path> walk = Files.walk(root)) {
            List<Path> paths = walk.filter(Files::isRegularFile).toList();
            for (Path path : paths) {
                String name = root.relativize(path).toString().replace('\\', '/');
                if (!name.startsWith(".") && !name.contains("/.")) {
                    files.put(name, Bytes.wrap(Files.readAllBytes(path)));
                }
            }
        } catch (IOException | UncheckedIOException e) {
            throw FileFailure.of("cannot read", root, e);
        }
        return files;
    }
}
