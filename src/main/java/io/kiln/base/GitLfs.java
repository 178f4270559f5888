// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Recognises the small text files that Git Large File Storage leaves in place of large ones that were not fetched. */
public final class GitLfs {
    /** The first line of a pointer, of today and of the specification's first name. */
    private static final String[] FIRST_LINES = {
        "version https://git-lfs.github.com/spec/", "version https://hawser.github.com/spec/"
    };

    private static final int HEAD = 64;

    private GitLfs() {}

    /** What is wrong with a file that is only a pointer; empty for any other, and for one that is not there. */
    public static Optional<Problem> pointer(Path file) {
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try (InputStream in = Files.newInputStream(file)) {
            return pointer(in.readNBytes(HEAD), file.toString());
        } catch (IOException e) {
            // Whoever needs the content says that it cannot be read.
            return Optional.empty();
        }
    }

    /** The same for a file's content, or as much of its start. */
    public static Optional<Problem> pointer(byte[] start, String where) {
        String text = new String(start, 0, Math.min(HEAD, start.length), StandardCharsets.ISO_8859_1);
        return Stream.of(FIRST_LINES).anyMatch(text::startsWith)
                ? Optional.of(new Problem(
                        "this is only a pointer of Git LFS: the file itself was not fetched",
                        where,
                        "",
                        "Run git lfs pull, and in CI check out with LFS"))
                : Optional.empty();
    }
}
