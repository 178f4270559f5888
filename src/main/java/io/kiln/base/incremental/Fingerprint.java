// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.incremental;

import io.kiln.base.Digests;
import io.kiln.base.FileFailure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * All inputs of a result, by name: settings as text, files as digests. Equal fingerprints give equal results. Not
 * thread-safe.
 */
public final class Fingerprint {
    private final TreeMap<String, String> parts = new TreeMap<>();

    private Fingerprint() {}

    /** An empty fingerprint. */
    public static Fingerprint empty() {
        return new Fingerprint();
    }

    /** Adds a setting; a value with line breaks is stored as its digest. */
    public Fingerprint setting(String name, Object value) {
        String text = String.valueOf(value);
        parts.put(name, text.indexOf('\n') < 0 && text.indexOf('\r') < 0 ? text : Digests.sha256(text));
        return this;
    }

    /** Adds a file by the digest of its content; a missing file counts as absent. */
    public Fingerprint file(String name, Path file) {
        parts.put(name, digest(file));
        return this;
    }

    /** Adds every file below a folder, named by its path; a missing folder adds nothing. */
    public Fingerprint folder(String name, Path folder) {
        for (Path file : filesBelow(folder)) {
            file(name + "/" + folder.relativize(file).toString().replace('\\', '/'), file);
        }
        return this;
    }

    /** The parts by name, in order. */
    public Map<String, String> parts() {
        return Collections.unmodifiableMap(parts);
    }

    /** Regular files below a folder in a stable order; none if there is no such folder. */
    public static List<Path> filesBelow(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        } catch (IOException | UncheckedIOException e) {
            throw FileFailure.of("cannot list", folder, e);
        }
    }

    /** SHA-256 of a file's content, or {@code absent}. */
    public static String digest(Path file) {
        try {
            return Files.isRegularFile(file) ? Digests.sha256(file) : "absent";
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    /** Whether a value is a digest, which is meaningless to people. */
    public static boolean isDigest(String value) {
        return value.matches("[0-9a-f]{64}");
    }
}
