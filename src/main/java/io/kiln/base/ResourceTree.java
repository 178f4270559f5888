// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Reads folders of resource files in Kiln's own jar, such as the C runtime. */
public final class ResourceTree {
    private ResourceTree() {}

    /**
     * All files below a folder, by path relative to it with {@code /} between names, sorted. Empty if there
     * is no such folder. Works from a jar and from a folder of classes.
     *
     * @param root folder relative to the class path's root, such as {@code crt/include}
     */
    public static SortedMap<String, Bytes> read(String root) {
        Path home = home();
        try {
            if (Files.isDirectory(home)) {
                return readFolder(home.resolve(root));
            }
            // A separate file system: parallel builds in one JVM must not share, and close, one by URI.
            try (FileSystem jar = FileSystems.newFileSystem(home)) {
                return readFolder(jar.getPath(root));
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot read " + root, home, e);
        }
    }

    private static Path home() {
        try {
            return Path.of(ResourceTree.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException("a code source is a valid URI", e);
        }
    }

    private static SortedMap<String, Bytes> readFolder(Path folder) throws IOException {
        TreeMap<String, Bytes> files = new TreeMap<>();
        if (Files.isDirectory(folder)) {
            try (Stream<Path> walk = Files.walk(folder)) {
                List<Path> paths = walk.filter(Files::isRegularFile).toList();
                for (Path path : paths) {
                    String name = folder.relativize(path).toString().replace('\\', '/');
                    files.put(name, Bytes.wrap(Files.readAllBytes(path)));
                }
            }
        }
        return Collections.unmodifiableSortedMap(files);
    }
}
