// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Optimize;
import io.kiln.base.Problem;
import io.kiln.firmware.TrustedArchives;
import io.kiln.frontend.InputShapes;
import io.kiln.toolchain.board.Boards;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What is to be built, as the user asked for it; see {@link #builder}.
 *
 * @param layout where things lie
 * @param models the models that go into the image, in the order given
 * @param board id of the board
 * @param toolchain id of the toolchain, such as {@code clang}; empty for the board's default
 * @param optimize what to care for
 * @param io who owns inputs and outputs
 * @param mlfVersion version of the Model Library Format, 5 or 7
 * @param timestamp the time that the archive states; empty means a fixed date
 * @param verify how the image is verified
 * @param boardSources where boards come from, beside those built in and the project's own
 * @param pipeline what to change about the compiler's passes
 * @param semihosting whether an image in QEMU may open files and start programs of this computer
 * @param trustedArchives the archives whose C is compiled like the user's own
 * @param slimArchive whether the archive goes without the constants' data
 * @param malformed parameters whose text means nothing; they are reported with everything else that is wrong with the build
 */
public record BuildSpec(
        Layout layout,
        List<ModelSource> models,
        String board,
        Optional<String> toolchain,
        Optimize optimize,
        Io io,
        int mlfVersion,
        Optional<Instant> timestamp,
        VerifySpec verify,
        BoardSources boardSources,
        PipelineSpec pipeline,
        boolean semihosting,
        TrustedArchives trustedArchives,
        boolean slimArchive,
        List<Problem> malformed) {
    public BuildSpec {
        models = List.copyOf(models);
        malformed = List.copyOf(malformed);
    }

    /**
     * A build as most are: for speed, inputs and outputs the caller's, version 7 of the Model Library Format with a fixed date, every pass,
     * verified on the emulator with two random cases, on a board that is built in or the project's own. Its image reaches nothing of this
     * computer, and it trusts no archive.
     *
     * @param layout where things lie
     * @param models the models that go into the image
     * @param board id of the board
     */
    public static BuildSpecBuilder builder(Layout layout, List<ModelSource> models, String board) {
        return new BuildSpecBuilder(layout, models, board);
    }

    /** A builder that makes the same build. */
    public BuildSpecBuilder toBuilder() {
        return new BuildSpecBuilder(this);
    }

    /** All boards that can be seen. */
    public Boards boards() {
        return boardSources.boards(layout.userBoards());
    }

    /**
     * One model file.
     *
     * @param file the file
     * @param name module name, as in {@code tvmgen_<name>_run}
     * @param inputShapes shapes of its inputs, {@code name:1,96,96,1;…}; empty for the file's
     */
    public record ModelSource(Path file, String name, String inputShapes) {
        /** A model with the shapes of its file. */
        public ModelSource(Path file, String name) {
            this(file, name, "");
        }

        /** The inputs' shapes, read. */
        public InputShapes shapes() {
            return InputShapes.parse(inputShapes);
        }
    }

    /**
     * How an image is verified.
     *
     * @param on where
     * @param vectors folder of {@code input_<k>.bin} and optional {@code output_<k>.bin}
     * @param samples number of seeded random cases, 0 or more
     * @param seed their seed
     * @param program how long the project's own program, if it is one, is booted in the emulator and watched; zero leaves it out
     * @param over what the image is talked to by
     */
    public record VerifySpec(
            VerifyOn on, Optional<Path> vectors, int samples, long seed, Duration program, VerifyOver over) {
        /** How long a program is watched if nobody says otherwise. */
        public static final Duration USUAL_PROGRAM = Duration.ofSeconds(2);

        /** Two random cases on the emulator. */
        public static final VerifySpec USUAL = new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 2, 0);

        /** A program of the project's own is watched as long as usual. */
        public VerifySpec(VerifyOn on, Optional<Path> vectors, int samples, long seed) {
            this(on, vectors, samples, seed, USUAL_PROGRAM);
        }

        /** The image holds the default application. */
        public VerifySpec(VerifyOn on, Optional<Path> vectors, int samples, long seed, Duration program) {
            this(on, vectors, samples, seed, program, VerifyOver.CONSOLE);
        }

        /** The same in another place. */
        VerifySpec with(VerifyOn place) {
            return new VerifySpec(place, vectors, samples, seed, program, over);
        }

        /** The same by another protocol. */
        VerifySpec with(VerifyOver protocol) {
            return new VerifySpec(on, vectors, samples, seed, program, protocol);
        }
    }

    /**
     * Folders and files of one build.
     *
     * @param project the project's folder; its {@code src/main} is looked at
     * @param out where everything is written
     * @param base name of the image's files without extension
     */
    public record Layout(Path project, Path out, String base) {
        /** The generated C and the archive. */
        public Path generated() {
            return out.resolve("generated-sources").resolve("kiln");
        }

        /** The C project. */
        public Path firmware() {
            return out.resolve("firmware");
        }

        /** The user's own C. */
        public Path userSources() {
            return project.resolve("src").resolve("main").resolve("c");
        }

        /** The project's own boards. */
        public Path userBoards() {
            return project.resolve("src").resolve("main").resolve("boards");
        }

        /** Where a model lies if none is named. */
        public Path userModels() {
            return project.resolve("src").resolve("main").resolve("model");
        }

        /** Reports that other programs read. */
        public Path reports() {
            return out.resolve("kiln");
        }

        /** What the steps remember. */
        public Path state(String step) {
            return reports().resolve("state").resolve(step + ".json");
        }

        /** The IR after each pass. */
        public Path ir() {
            return reports().resolve("ir");
        }

        /** {@code <base>.<extension>}. */
        public Path image(String extension) {
            return out.resolve(base + "." + extension);
        }

        /** The archive beside the image. */
        public Path archive() {
            return out.resolve(base + "-mlf.tar");
        }
    }
}
