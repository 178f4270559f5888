// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Recognises the pointer files that Git Large File Storage leaves in place of files that were not fetched. */
public final class GitLfs {
    /** The first line of a pointer, under the current and the first name of the specification. */
    private static final String[] FIRST_LINES = {
        "version https://git-lfs.github.com/spec/", "version https://hawser.github.com/spec/"
    };

    private static final int HEAD = 64;

    private GitLfs() {}

    /** The problem of a file that is only a pointer; empty for any other file, and for a missing one. */
    public static Optional<Problem> pointer(Path file) {
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try (InputStream in = Files.newInputStream(file)) {
            return pointer(in.readNBytes(HEAD), file.toString());
        } catch (IOException e) {
            // The reader of the content reports that it cannot be read.
            return Optional.empty();
        }
    }

    /** The problem of content that is only a pointer, given all of it or its start; empty for any other content. */
    public static Optional<Problem> pointer(byte[] start, String where) {
        String text = new String(start, 0, Math.min(HEAD, start.length), StandardCharsets.ISO_8859_1);
        return Stream.of(FIRST_LINES).anyMatch(text::startsWith)
                ? Optional.of(Failure.FILE.problem(
                        "this is only a pointer of Git LFS: the file itself was not fetched",
                        where,
                        "",
                        "Run git lfs pull, and in CI check out with LFS"))
                : Optional.empty();
    }
}
