// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Optimize;
import io.kiln.firmware.app.Application;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.Toolchain;
import java.nio.file.Path;
import java.util.List;

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
    /**
     * The code in a firmware.
     *
     * @param models the models in it, at least one
     * @param code the project's own code, such as that in {@code src/main/c}
     * @param options the user's choices
     * @param brought a library that models call
     * @param extra generated code beside the models
     */
    public record Content(
            List<ModelLibrary> models, UserCode code, ImageOptions options, BroughtSources brought, ExtraCode extra) {
        public Content {
            models = List.copyOf(models);
        }

        /** An image with the default application or the project's own, which trusts no archive and has no library. */
        public Content(List<ModelLibrary> models, UserCode code) {
            this(models, code, ImageOptions.DEFAULT, BroughtSources.NONE, ExtraCode.NONE);
        }

        /** The same content with other code of the project's own. */
        public Content with(UserCode other) {
            return new Content(models, other, options, brought, extra);
        }

        /** The same content with an application in place of the project's own C. */
        public Content replacingMain(Application other) {
            return new Content(models, UserCode.NONE, options.with(other), brought, extra);
        }

        /** The same content with other models, and generated code beside them. */
        public Content with(List<ModelLibrary> others, ExtraCode beside) {
            return new Content(others, code, options, brought, beside);
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

    public List<ModelLibrary> models() {
        return content.models;
    }

    /** The project's own code. */
    public UserCode code() {
        return content.code;
    }

    /** The application of the image if the project's own C has no {@code main}. */
    public Application application() {
        return content.options.application();
    }

    /** A library that models call. */
    public BroughtSources brought() {
        return content.brought;
    }

    /** Generated code beside the models. */
    public ExtraCode extra() {
        return content.extra;
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

    /** The same firmware with further options of the linker. */
    FirmwareRequest linkedWith(List<String> more) {
        return new FirmwareRequest(board.linkedWith(more), toolchain, optimize, content, folders, pluginVersion);
    }

    /** The same firmware in other folders. */
    public FirmwareRequest in(Folders other) {
        return new FirmwareRequest(board, toolchain, optimize, content, other, pluginVersion);
    }

    /** The same firmware with other content. */
    public FirmwareRequest with(Content other) {
        return new FirmwareRequest(board, toolchain, optimize, other, folders, pluginVersion);
    }
}
