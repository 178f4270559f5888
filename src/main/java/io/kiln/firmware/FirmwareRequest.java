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
 * @param content the code in it
 * @param folders where it is written
 * @param pluginVersion version of Kiln; a change rebuilds everything
 */
public record FirmwareRequest(
        Board board, Toolchain toolchain, Optimize optimize, Content content, Folders folders, String pluginVersion) {
    /** A request for an image with the default application or the project's own, which trusts no archive and has no library. */
    public FirmwareRequest(
            Board board,
            Toolchain toolchain,
            Optimize optimize,
            List<ModelLibrary> models,
            Optional<Path> userSources,
            Folders folders,
            String pluginVersion) {
        this(
                board,
                toolchain,
                optimize,
                new Content(
                        models,
                        UserCode.of(userSources),
                        TrustedArchives.NONE,
                        Application.CONSOLE,
                        BroughtSources.NONE,
                        ExtraCode.NONE),
                folders,
                pluginVersion);
    }

    /**
     * The code in a firmware.
     *
     * @param models the models in it, at least one
     * @param code the project's own code, such as that in {@code src/main/c}
     * @param trusted archives whose C is compiled like the user's own
     * @param application what runs on the image if the project's own C has no {@code main}
     * @param brought a library that models call
     * @param extra generated code beside the models
     */
    public record Content(
            List<ModelLibrary> models,
            UserCode code,
            TrustedArchives trusted,
            Application application,
            BroughtSources brought,
            ExtraCode extra) {
        public Content {
            models = List.copyOf(models);
        }
    }

    /**
     * Where a firmware is written.
     *
     * @param project folder of the C project; obsolete files of earlier runs are removed
     * @param build folder of objects, logs and build records; not inside {@code project}
     */
    public record Folders(Path project, Path build) {
        public Folders {
            project = project.toAbsolutePath().normalize();
            build = build.toAbsolutePath().normalize();
        }

        /** {@code firmware} and {@code build} in a folder. */
        public static Folders in(Path folder) {
            return new Folders(folder.resolve("firmware"), folder.resolve("build"));
        }
    }

    /** The models in it. */
    public List<ModelLibrary> models() {
        return content.models;
    }

    /** The project's own code. */
    public UserCode code() {
        return content.code;
    }

    /** Archives whose C is compiled like the user's own. */
    public TrustedArchives trusted() {
        return content.trusted;
    }

    /** The application of the image if the project's own C has no {@code main}. */
    public Application application() {
        return content.application;
    }

    /** A library that models call. */
    public BroughtSources brought() {
        return content.brought;
    }

    /** Absolute path of the C project. */
    public Path directory() {
        return folders.project;
    }

    /** Absolute path of objects, logs and build records. */
    public Path buildDirectory() {
        return folders.build;
    }

    /**
     * The same firmware for a stand-in board. The first board's linker settings apply to it too: an image that needs a
     * larger stack needs it on every board.
     *
     * @param standIn the other board
     * @param folder folder of its project and objects, separate from the first one's
     */
    public FirmwareRequest on(Board standIn, Path folder) {
        Board linked = standIn.id().equals(board.id())
                ? standIn
                : standIn.linkedWith(board.building().link());
        return new FirmwareRequest(linked, toolchain, optimize, content, Folders.in(folder), pluginVersion);
    }

    /** The same compiled by another compiler. */
    public FirmwareRequest with(Toolchain other) {
        return new FirmwareRequest(board, other, optimize, content, folders, pluginVersion);
    }

    /** The same with trusted archives. */
    public FirmwareRequest with(TrustedArchives archives) {
        return with(new Content(models(), code(), archives, application(), brought(), extra()));
    }

    /** The same with another application. */
    public FirmwareRequest with(Application other) {
        return with(new Content(models(), code(), trusted(), other, brought(), extra()));
    }

    /** The same with an application in place of the project's own C. */
    public FirmwareRequest replacingMain(Application other) {
        return with(new Content(models(), UserCode.NONE, trusted(), other, brought(), extra()));
    }

    /** The same with a library. */
    public FirmwareRequest with(BroughtSources library) {
        return with(new Content(models(), code(), trusted(), application(), library, extra()));
    }

    /** Generated code beside the models. */
    public ExtraCode extra() {
        return content.extra;
    }

    /** The same with other models, and generated code beside them. */
    public FirmwareRequest with(List<ModelLibrary> models, ExtraCode extra) {
        return with(new Content(models, code(), trusted(), application(), brought(), extra));
    }

    /** The same in other folders. */
    public FirmwareRequest in(Folders other) {
        return new FirmwareRequest(board, toolchain, optimize, content, other, pluginVersion);
    }

    /** The same with other code of the project's own. */
    public FirmwareRequest with(UserCode other) {
        return with(new Content(models(), other, trusted(), application(), brought(), extra()));
    }

    private FirmwareRequest with(Content other) {
        return new FirmwareRequest(board, toolchain, optimize, other, folders, pluginVersion);
    }
}
