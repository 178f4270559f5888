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
                return files(root, name -> Files.readAllBytes(home.resolve(name)));
            }
            // The class loader has the jar open, so that opening it again reads no table of contents.
            try (ZipFile jar = new ZipFile(home.toFile())) {
                return files(root, name -> {
                    try (InputStream content = jar.getInputStream(jar.getEntry(name))) {
                        return content.readAllBytes();
                    }
                });
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot read " + root, home, e);
        }
    }

    /** The content of a file by its name from the class path's root. */
    private interface Content {
        byte[] of(String name) throws IOException;
    }

    private static SortedMap<String, Bytes> files(String root, Content content) throws IOException {
        TreeMap<String, Bytes> files = new TreeMap<>();
        String prefix = root + "/";
        for (String name : Names.ALL.subSet(prefix, prefix + Character.MAX_VALUE)) {
            files.put(name.substring(prefix.length()), Bytes.wrap(content.of(name)));
        }
        return Collections.unmodifiableSortedMap(files);
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

    /** Names of the files in the jar or the folder, listed once: there are thousands, and a build reads a dozen folders. */
    private static final class Names {
        static final NavigableSet<String> ALL = Collections.unmodifiableNavigableSet(new TreeSet<>(list(home())));

        private static List<String> list(Path home) {
            if (Files.isDirectory(home)) {
                return WholeFiles.below(home).stream()
                        .map(file -> home.relativize(file).toString().replace('\\', '/'))
                        .toList();
            }
            try (ZipFile jar = new ZipFile(home.toFile())) {
                return jar.stream()
                        .filter(entry -> !entry.isDirectory())
                        .map(ZipEntry::getName)
                        .toList();
            } catch (IOException e) {
                throw FileFailure.of("cannot read", home, e);
            }
        }
    }
}
