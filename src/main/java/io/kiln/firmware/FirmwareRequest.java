// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Optimize;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.Toolchain;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What a firmware is made of.
 *
 * @param board the board it runs on
 * @param toolchain the compiler, resolved for the board's core
 * @param optimize what the compiler shall save
 * @param models the models in it, at least one
 * @param userSources the project's own C, such as {@code src/main/c}; need not exist
 * @param directory where the C project is written; files of earlier runs that are not needed any more are removed
 * @param buildDirectory where objects, logs and the records of what was built are kept; not inside {@code directory}
 * @param pluginVersion version of Kiln; another one rebuilds everything
 * @param trusted the archives whose C is compiled like the user's own
 */
public record FirmwareRequest(
        Board board,
        Toolchain toolchain,
        Optimize optimize,
        List<ModelLibrary> models,
        Optional<Path> userSources,
        Path directory,
        Path buildDirectory,
        String pluginVersion,
        TrustedArchives trusted) {
    public FirmwareRequest {
        models = List.copyOf(models);
        directory = directory.toAbsolutePath().normalize();
        buildDirectory = buildDirectory.toAbsolutePath().normalize();
    }

    /** A request that trusts no archive. */
    public FirmwareRequest(
            Board board,
            Toolchain toolchain,
            Optimize optimize,
            List<ModelLibrary> models,
            Optional<Path> userSources,
            Path directory,
            Path buildDirectory,
            String pluginVersion) {
        this(
                board,
                toolchain,
                optimize,
                models,
                userSources,
                directory,
                buildDirectory,
                pluginVersion,
                TrustedArchives.NONE);
    }

    /**
     * The same firmware for another board, which runs it in place of the first one. What the first board tells the linker counts there
     * too: an image that needs a larger stack needs it everywhere.
     *
     * @param standIn the other board
     * @param folder where its project and its objects are kept, apart from the first one's
     */
    public FirmwareRequest on(Board standIn, Path folder) {
        return new FirmwareRequest(
                standIn.id().equals(board.id())
                        ? standIn
                        : standIn.linkedWith(board.building().link()),
                toolchain,
                optimize,
                models,
                userSources,
                folder.resolve("firmware"),
                folder.resolve("build"),
                pluginVersion,
                trusted);
    }
}
