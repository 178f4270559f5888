// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.NavigableSet;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

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
            return readJar(home, root + "/");
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

    /** Names of the files in the jar, listed once: there are thousands, and a build reads a dozen folders. */
    private static final class Names {
        static final NavigableSet<String> ALL = Collections.unmodifiableNavigableSet(list(home()));

        private static NavigableSet<String> list(Path home) {
            try (ZipFile jar = new ZipFile(home.toFile())) {
                return jar.stream()
                        .filter(entry -> !entry.isDirectory())
                        .map(ZipEntry::getName)
                        .collect(Collectors.toCollection(TreeSet::new));
            } catch (IOException e) {
                throw FileFailure.of("cannot read", home, e);
            }
        }
    }

    /** The class loader has the jar open, so that opening it again reads no table of contents. */
    private static SortedMap<String, Bytes> readJar(Path home, String prefix) throws IOException {
        TreeMap<String, Bytes> files = new TreeMap<>();
        try (ZipFile jar = new ZipFile(home.toFile())) {
            for (String name : Names.ALL.subSet(prefix, prefix + Character.MAX_VALUE)) {
                try (InputStream content = jar.getInputStream(jar.getEntry(name))) {
                    files.put(name.substring(prefix.length()), Bytes.wrap(content.readAllBytes()));
                }
            }
        }
        return Collections.unmodifiableSortedMap(files);
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
