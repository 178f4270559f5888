// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.base.incremental.Fingerprint.NoInput;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.firmware.app.MlperfOptions;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.Toolchain;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The inputs of a firmware.
 *
 * @param board the board that it runs on
 * @param toolchain the compiler, resolved for the board's core
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

        public Content with(UserCode other) {
            return new Content(models, other, options, brought, extra);
        }

        /** The same content with an application in place of the project's own C. */
        public Content replacingMain(Application other) {
            return new Content(models, UserCode.NONE, options.with(other), brought, extra);
        }

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

    public FirmwareRequest with(Content other) {
        return new FirmwareRequest(board, toolchain, optimize, other, folders, pluginVersion);
    }

    /**
     * Generated code beside the models, and the linker script that it needs.
     *
     * @param isAlone whether the image consists of it and the models, without start-up code and application
     * @param folder folder of its headers; empty if it has none
     * @param files by path in the C project; the sources are compiled like Kiln's own, for size
     * @param linkerScript name in the board's folder, in place of the board's own
     */
    public record ExtraCode(
            boolean isAlone, Optional<String> folder, SortedMap<String, Bytes> files, Optional<String> linkerScript) {
        /** No generated code. */
        public static final ExtraCode NONE = new ExtraCode(false, Optional.empty(), new TreeMap<>(), Optional.empty());

        public ExtraCode {
            files = Collections.unmodifiableSortedMap(new TreeMap<>(files));
        }
    }

    /**
     * What a user chooses about an image, whatever the models and the board are.
     *
     * @param application what runs on the image if the project's own C has no {@code main}
     * @param mlperf how the image is measured if the application is that of MLPerf Tiny
     * @param trusted archives whose C is compiled like the user's own
     */
    public record ImageOptions(
            Application application,
            MlperfOptions mlperf,

            @NoInput(because = "it allows a build, and changes nothing in it")
            TrustedArchives trusted) {
        public static final ImageOptions DEFAULT = new ImageOptions(Application.CONSOLE, TrustedArchives.NONE);

        /** Options of an image that is not measured. */
        public ImageOptions(Application application, TrustedArchives trusted) {
            this(application, MlperfOptions.USUAL, trusted);
        }

        public ImageOptions with(Application other) {
            return new ImageOptions(other, mlperf, trusted);
        }
    }

    /**
     * A library of C that the user brings and that models call, such as CMSIS-NN. It is compiled like the user's own C.
     *
     * @param folder its folder in the C project
     * @param files its sources that are needed, and its headers, by path below the folder
     * @param includes folders of its headers, below the folder
     * @param substitutes folders, below the folder, of headers for those that a small C library lacks: they are searched after all others
     */
    public record BroughtSources(
            String folder, SortedMap<String, Bytes> files, List<String> includes, List<String> substitutes) {
        public static final BroughtSources NONE = new BroughtSources("", new TreeMap<>(), List.of(), List.of());

        public BroughtSources {
            files = Collections.unmodifiableSortedMap(new TreeMap<>(files));
            includes = List.copyOf(includes);
            substitutes = List.copyOf(substitutes);
        }
    }
}
