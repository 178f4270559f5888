// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Optimize;
import io.kiln.firmware.app.Application;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.Toolchain;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The inputs of a firmware.
 *
 * @param board the board that it runs on
 * @param toolchain the compiler, resolved for the board's core
 * @param optimize what to optimize for
 * @param models the models in it, at least one
 * @param code the project's own code, such as that in {@code src/main/c}
 * @param directory folder of the C project; obsolete files of earlier runs are removed
 * @param buildDirectory folder of objects, logs and build records; not inside {@code directory}
 * @param pluginVersion version of Kiln; a change rebuilds everything
 * @param trusted archives whose C is compiled like the user's own
 * @param application what runs on the image if the project's own C has no {@code main}
 * @param brought a library that models call
 */
public record FirmwareRequest(
        Board board,
        Toolchain toolchain,
        Optimize optimize,
        List<ModelLibrary> models,
        UserCode code,
        Path directory,
        Path buildDirectory,
        String pluginVersion,
        TrustedArchives trusted,
        Application application,
        BroughtSources brought) {
    public FirmwareRequest {
        models = List.copyOf(models);
        directory = directory.toAbsolutePath().normalize();
        buildDirectory = buildDirectory.toAbsolutePath().normalize();
    }

    /** A request for an image with the default application or the project's own, which trusts no archive and has no library. */
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
                UserCode.of(userSources),
                directory,
                buildDirectory,
                pluginVersion,
                TrustedArchives.NONE,
                Application.CONSOLE,
                BroughtSources.NONE);
    }

    /**
     * The same firmware for a stand-in board. The first board's linker settings apply to it too: an image that needs a
     * larger stack needs it on every board.
     *
     * @param standIn the other board
     * @param folder folder of its project and objects, separate from the first one's
     */
    public FirmwareRequest on(Board standIn, Path folder) {
        return new FirmwareRequest(
                standIn.id().equals(board.id())
                        ? standIn
                        : standIn.linkedWith(board.building().link()),
                toolchain,
                optimize,
                models,
                code,
                folder.resolve("firmware"),
                folder.resolve("build"),
                pluginVersion,
                trusted,
                application,
                brought);
    }

    /** The same with trusted archives. */
    public FirmwareRequest with(TrustedArchives archives) {
        return with(code, archives, application, brought);
    }

    /** The same with another application. */
    public FirmwareRequest with(Application other) {
        return with(code, trusted, other, brought);
    }

    /** The same with an application in place of the project's own C. */
    public FirmwareRequest replacingMain(Application other) {
        return with(UserCode.NONE, trusted, other, brought);
    }

    /** The same with a library. */
    public FirmwareRequest with(BroughtSources library) {
        return with(code, trusted, application, library);
    }

    /** The same with other code of the project's own. */
    public FirmwareRequest with(UserCode other) {
        return with(other, trusted, application, brought);
    }

    private FirmwareRequest with(
            UserCode own, TrustedArchives archives, Application other, BroughtSources library) {
        return new FirmwareRequest(
                board,
                toolchain,
                optimize,
                models,
                own,
                directory,
                buildDirectory,
                pluginVersion,
                archives,
                other,
                library);
    }
}
