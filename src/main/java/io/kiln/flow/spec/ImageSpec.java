// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.base.incremental.Fingerprint.NoInput;
import io.kiln.firmware.CodeFolder.Role;
import io.kiln.firmware.CodeLibrary;
import io.kiln.firmware.FirmwareRequest.ImageOptions;
import io.kiln.firmware.OwnParts;
import io.kiln.firmware.UserCode;
import io.kiln.firmware.UserCode.CodeFlags;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.TargetOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The settings of an image: what is linked with the models, and how it runs.
 *
 * @param options what the firmware takes as it is
 * @param code the project's own code
 * @param compilerFlags further flags of the C compiler, of those that a board's profile may have
 * @param semihosting whether an image in QEMU may open files and start programs on this computer
 * @param verify how the image is verified
 * @param farm runs the image in place of this computer; empty for this computer
 */
public record ImageSpec(
        ImageOptions options,

        @NoInput(because = "it is compiled beside generated C, and a verified image is an input itself")
        CodeSpec code,

        @NoInput(because = "the board has them, and is an input itself")
        List<String> compilerFlags,

        @NoInput(of = "generate", because = "it is asked for when the image runs")
        boolean semihosting,

        @NoInput(of = "generate", because = "it begins when the image is linked")
        VerifySpec verify,

        @NoInput(because = "answers are the same on a farm; its address may hold a secret")
        Optional<FarmUse> farm) {
    /** The default application without code of the project, verified in the emulator with two random cases. */
    public static final ImageSpec DEFAULT = new ImageSpec(
            ImageOptions.DEFAULT,
            CodeSpec.NONE,
            List.of(),
            false,
            new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 2, 0),
            Optional.empty());

    public ImageSpec {
        compilerFlags = List.copyOf(compilerFlags);
    }

    public ImageSpec with(ImageOptions other) {
        return new ImageSpec(other, code, compilerFlags, semihosting, verify, farm);
    }

    public ImageSpec with(VerifySpec other) {
        return new ImageSpec(options, code, compilerFlags, semihosting, other, farm);
    }

    /** The same settings with another farm, or none. */
    public ImageSpec onFarm(Optional<FarmUse> other) {
        return new ImageSpec(options, code, compilerFlags, semihosting, verify, other);
    }

    /**
     * The project's own code beside that in {@code src/main/c}, and how all of it is compiled.
     *
     * @param sources further folders that are compiled
     * @param includes folders that are searched for headers
     * @param flags how all of it is compiled
     * @param libraries code in artifacts
     * @param own what it has in place of the board's
     */
    public record CodeSpec(
            List<Path> sources, List<Path> includes, CodeFlags flags, List<CodeLibrary> libraries, OwnParts own) {
        /** No code but that in {@code src/main/c}. */
        public static final CodeSpec NONE =
                new CodeSpec(List.of(), List.of(), CodeFlags.NONE, List.of(), OwnParts.NONE);

        /** A macro's name, its parameters if it has some, and its replacement. */
        private static final Pattern DEFINE =
                Pattern.compile("[A-Za-z_][A-Za-z0-9_]*(?:\\([A-Za-z0-9_, .]*\\))?(?:=.*)?", Pattern.DOTALL);

        public CodeSpec {
            sources = List.copyOf(sources);
            includes = List.copyOf(includes);
            libraries = List.copyOf(libraries);
        }

        /**
         * The code, as the firmware takes it.
         *
         * @param board the board that it is compiled for
         */
        public UserCode of(Layout layout, Board board) {
            UserCode code = UserCode.of(layout.userSources(), flags);
            for (Path folder : sources) {
                code = code.with(layout.project(), folder, Role.SOURCES);
            }
            for (Path folder : includes) {
                code = code.with(layout.project(), folder, Role.HEADERS);
            }
            String cpu = TargetOptions.parse(board.target()).cpu();
            for (CodeLibrary library : libraries) {
                code = library.addTo(code, cpu, layout.reports().resolve("libraries"));
            }
            return code;
        }

        /** Whether any of it is C++; code in artifacts, which is not looked at yet, may be. */
        public boolean mayHaveCplusplus(Layout layout, Board board) {
            return !libraries.isEmpty() || of(layout, board).hasCplusplus();
        }

        public CodeSpec with(OwnParts other) {
            return new CodeSpec(sources, includes, flags, libraries, other);
        }

        /** Finds malformed macros. Folders need not exist before the sources are assembled. */
        public void check(Problems problems) {
            flags.defines().stream()
                    .filter(define -> !DEFINE.matcher(define).matches())
                    .forEach(define -> problems.add(
                            "'" + define + "' is not a macro", "kiln.define", "NAME or NAME=value", "Correct it"));
        }
    }

    /**
     * How long to run an image.
     *
     * @param limit time in which the image must end, or print the text
     * @param until console text that ends the run successfully, for programs that never end; empty for a run that ends with the program
     */
    public record RunSpec(Duration limit, Optional<String> until) {}

    /**
     * Where a program's tests run.
     *
     * @param onBoard whether the tests of the program run on the board rather than in an emulator
     * @param onHost whether unit tests run on this computer
     * @param onTarget whether unit tests run on the board's emulator
     */
    public record TestSpec(boolean onBoard, boolean onHost, boolean onTarget) {
        /** The usual places: the emulator, and this computer for unit tests too. */
        public static final TestSpec USUAL = new TestSpec(false, true, true);

        private static final Set<String> UNITS = Set.of("host", "target");

        /**
         * Reads the parameters.
         *
         * @param on {@code emulator} or {@code board}
         * @param units {@code host} and {@code target}, or one of them
         * @throws KilnException for any other text
         */
        public static TestSpec of(String on, List<String> units) {
            if (!on.equals("emulator") && !on.equals("board")) {
                throw Failure.CONFIG.exception(
                        "tests cannot run on \"" + on + "\"", "kiln.test.on", "emulator or board");
            }
            units.stream().filter(unit -> !UNITS.contains(unit)).findFirst().ifPresent(unit -> {
                throw Failure.CONFIG.exception(
                        "unit tests cannot run on \"" + unit + "\"", "kiln.test.units", "host, target or both");
            });
            return new TestSpec(on.equals("board"), units.contains("host"), units.contains("target"));
        }
    }
}
