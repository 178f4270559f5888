// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.flow.spec.BoardSources;
import io.kiln.toolchain.compiler.ToolchainEnvironment.ArtifactFetcher;
import io.kiln.toolchain.pack.Packs.PackSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.model.Dependency;

/**
 * Finds the artifacts of boards: the dependencies of type {@code board-profile}, and the one that the board's
 * coordinates name.
 */
public final class BoardArtifacts {
    static final String TYPE = "board-profile";
    private static final String EXTENSION = "zip";

    /** Those of dependencies alone. */
    public static final BoardArtifacts OF_DEPENDENCIES = new BoardArtifacts("none");

    private final String[] words;

    /**
     * The board as the user names it.
     *
     * @param board an id, or {@code group:artifact:version:id}
     * @throws KilnException for any other text
     */
    public BoardArtifacts(String board) {
        words = board.strip().split(":", -1);
        if ((words.length != 1 && words.length != 4) || Stream.of(words).anyMatch(String::isBlank)) {
            throw Failure.BOARD.exception(
                    "not a valid board: " + board, "kiln.board", "an id, or group:artifact:version:id");
        }
    }

    /** The board's id. */
    public String id() {
        return words[words.length - 1];
    }

    /** Fetches the artifacts, each once. */
    public BoardSources fetch(List<Dependency> dependencies, String trusted, ArtifactFetcher fetcher) {
        List<BoardSources.Archive> archives = new ArrayList<>();
        Stream<List<String>> named =
                words.length == 4 ? Stream.of(List.of(words).subList(0, 3)) : Stream.of();
        Stream.concat(
                        named,
                        dependencies.stream()
                                .filter(dependency -> TYPE.equals(dependency.getType()))
                                .map(d -> List.of(d.getGroupId(), d.getArtifactId(), d.getVersion())))
                .distinct()
                .forEach(gav -> archives.add(new BoardSources.Archive(
                        fetcher.fetch(gav.get(0), gav.get(1), gav.get(2), "", EXTENSION), String.join(":", gav))));
        Set<String> coordinates = Stream.of(trusted.split(",", -1))
                .map(String::strip)
                .filter(each -> !each.isEmpty())
                .collect(Collectors.toSet());
        return new BoardSources(archives, coordinates, PackSource.of(fetcher));
    }
}
