// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Digests;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.base.incremental.Journal;
import io.kiln.base.incremental.Made;
import io.kiln.toolchain.compiler.Toolchain;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Objects that one compiler made, shared by all projects of a user: most sources of a firmware are the same in each.
 * Objects are stored by the digest of their content, which is checked when one is taken. For each key there are the
 * inputs of some objects, as the compiler listed them. The caller decides whether they are still the same. The cache
 * is not part of a build's result: whatever cannot be read or written counts as missing.
 */
record ObjectCache(Optional<Path> folder) {
    /** Usual limit in bytes. */
    static final long MOST_BYTES = 256L << 20;

    /** Limit of objects with the same key, such as those of a source whose headers differ by project. */
    private static final int MOST_VARIANTS = 16;

    /** The cache of a compiler, which has none if it is not known exactly. */
    static ObjectCache of(Toolchain toolchain) {
        return new ObjectCache(toolchain.objectCache());
    }

    /**
     * Writes an object that was made before.
     *
     * @param key digest of the command line and the source
     * @param isCurrent whether the inputs of an object are those that its source has now
     * @param object file to write
     * @return the inputs and the digest of the object; empty if there is none
     */
    Optional<Made> find(String key, Predicate<Made> isCurrent, Path object) {
        if (folder.isEmpty()) {
            return Optional.empty();
        }
        Path list = list(key);
        for (Map.Entry<String, Made> variant : new Journal(list).read().entrySet()) {
            Path stored = stored(variant.getKey());
            if (isCurrent.test(variant.getValue()) && copied(stored, variant.getKey(), object)) {
                touch(list);
                touch(stored);
                return Optional.of(variant.getValue());
            }
        }
        return Optional.empty();
    }

    /**
     * Stores an object.
     *
     * @param key as in {@link #find}
     * @param made the inputs of the object
     * @param object the object's file
     */
    void keep(String key, Made made, Path object) {
        if (folder.isEmpty()) {
            return;
        }
        try {
            byte[] content = Files.readAllBytes(object);
            String digest = Digests.sha256(content);
            WholeFiles.write(stored(digest), content);
            Journal journal = new Journal(list(key));
            Map<String, Made> variants = new TreeMap<>(journal.read());
            if (variants.size() >= MOST_VARIANTS) {
                variants.clear();
            }
            variants.put(digest, made);
            journal.write(variants);
        } catch (IOException | KilnException e) {
            // The next build compiles the source again.
        }
    }

    /** Deletes what was used longest ago if the cache has more bytes than this, until half of them are left. */
    void limit(long most) {
        if (folder.filter(Files::isDirectory).isEmpty()) {
            return;
        }
        try (Stream<Path> walk = Files.walk(folder.get())) {
            List<Path> files = walk.filter(Files::isRegularFile).toList();
            long bytes =
                    files.stream().mapToLong(file -> file.toFile().length()).sum();
            if (bytes <= most) {
                return;
            }
            for (Path file : files.stream()
                    .sorted(Comparator.comparingLong(file -> file.toFile().lastModified()))
                    .toList()) {
                bytes -= file.toFile().length();
                Files.deleteIfExists(file);
                if (bytes <= most / 2) {
                    return;
                }
            }
        } catch (IOException | UncheckedIOException e) {
            // Another build deletes files at the same time, or the folder cannot be written.
        }
    }

    private Path list(String key) {
        return place("lists", key + ".json");
    }

    private Path stored(String digest) {
        return place("objects", digest + ".o");
    }

    private Path place(String kind, String name) {
        return folder.orElseThrow().resolve(kind).resolve(name.substring(0, 2)).resolve(name);
    }

    private static boolean copied(Path stored, String digest, Path object) {
        try {
            byte[] content = Files.readAllBytes(stored);
            if (!Digests.sha256(content).equals(digest)) {
                return false;
            }
            Files.write(object, content);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static void touch(Path file) {
        try {
            Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
        } catch (IOException e) {
            // The file counts as older than it is, and is deleted earlier.
        }
    }
}
