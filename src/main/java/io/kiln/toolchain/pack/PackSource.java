// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.toolchain.compiler.ArtifactFetcher;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Finds packs that are artifacts of a repository. */
@FunctionalInterface
public interface PackSource {
    /** Type of such artifacts, and the ending of their files. */
    String TYPE = "pack";

    /** No system has paths with two colons between words. A word of dots would lead out of a repository's folder. */
    Pattern COORDINATES = Pattern.compile("WORD:WORD:WORD".replace("WORD", "[A-Za-z0-9_][A-Za-z0-9_.-]*"));

    /** Finds none. */
    PackSource NONE = coordinates -> {
        throw Failure.BOARD.exception(
                "packs cannot be fetched here", coordinates, "a file, or a build that Maven runs");
    };

    /**
     * Fetches an artifact.
     *
     * @param coordinates {@code group:artifact:version}
     * @throws KilnException if it cannot be fetched
     */
    Path fetch(String coordinates);

    /** Packs that are fetched like every other artifact. */
    static PackSource of(ArtifactFetcher fetcher) {
        return coordinates -> {
            String[] words = coordinates.split(":", -1);
            return fetcher.fetch(words[0], words[1], words[2], "", TYPE);
        };
    }

    /** Whether a pack is named by coordinates, rather than as a file. */
    static boolean areCoordinates(String text) {
        return COORDINATES.matcher(text).matches();
    }

    /**
     * The place of a pack.
     *
     * @param text a file, a folder, or coordinates
     * @param folder that a relative file is relative to
     * @throws KilnException if it is none of them, or cannot be fetched
     */
    default Path find(String text, Path folder) {
        try {
            return areCoordinates(text) ? fetch(text) : folder.resolve(text).normalize();
        } catch (InvalidPathException e) {
            throw new KilnException(
                    Failure.BOARD.problem(
                            "this names no pack: " + text, "kiln.pack", "a file, a folder or coordinates"),
                    e);
        }
    }
}
