// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problems;
import io.kiln.device.emulator.Emulator;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareProject;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.OwnParts;
import io.kiln.firmware.UserCode;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.toolchain.board.Board;
import java.nio.file.Path;
import java.util.Optional;

/**
 * An image that this computer can run: the build's own, or one linked from the same objects.
 *
 * @param file the ELF file
 * @param board the board that runs it
 * @param hasOwnMain whether it is the project's own program, which does not answer the host
 * @param isOther whether another application replaces that of the build, so that its stack is not that of the build's image
 */
public record RunnableImage(Path file, Board board, boolean hasOwnMain, boolean isOther) {

    /**
     * The build's image, or, for a board with a stand-in, the same objects linked for the stand-in.
     *
     * @throws KilnException if nothing on this computer runs images of the board
     */
    public static RunnableImage asBuilt(Log log, ResolvedBuild build) {
        return of(log, build, false);
    }

    /** The image of {@link #asBuilt}, with the default application in place of the project's own main, if it has one. */
    public static RunnableImage withDefaultApplication(Log log, ResolvedBuild build) {
        return of(log, build, true);
    }

    /** The image for the board itself, with the default application in place of the project's own main, if it has one. */
    public static RunnableImage forTheBoard(Log log, ResolvedBuild build) {
        return of(log, build.with(build.spec(), Optional.of(build.board())), true);
    }

    /**
     * The project's code with its unit tests, whose runner replaces its main, for the build's board or its stand-in. On this
     * computer only {@code src/main/c} is under test: further sources and libraries may need the board.
     *
     * @param tests the folder of the tests
     * @throws KilnException if nothing on this computer runs images of the board
     */
    public static RunnableImage ofUnitTests(ResolvedBuild build, Path tests) {
        Board runsOn = build.requireRunsProgram();
        FirmwareSteps steps = new FirmwareSteps(Log.QUIET, build);
        Path folder = build.spec().layout().reports().resolve("unit-tests");
        FirmwareRequest plain = steps.request().on(runsOn, folder);
        UserCode code = runsOn.isHost() ? plain.code().withoutHardware() : plain.code();
        FirmwareProject project =
                FirmwareAssembler.assemble(plain.with(plain.content().with(code.withTests(tests))), Log.QUIET);
        if (runsOn.isHost()) {
            requireTrust(project);
        }
        CompiledObjects objects = runsOn.isHost()
                ? FirmwareCompiler.compile(project, Log.QUIET)
                : FirmwareCompiler.compileStandIn(project, steps.objects(), Log.QUIET);
        return new RunnableImage(
                FirmwareLinker.link(objects, folder, "tests", Log.QUIET).elf(), runsOn, true, true);
    }

    private static RunnableImage of(Log log, ResolvedBuild build, boolean withDefaultApplication) {
        Board runsOn = build.requireRunsOn();
        FirmwareSteps steps = new FirmwareSteps(Log.QUIET, build);
        CompiledObjects objects = steps.objects();
        boolean ownMain = FirmwareSteps.hasOwnMain(objects.project());
        Application answering = build.spec().verify().over() == VerifyOver.RPC ? Application.RPC : Application.CONSOLE;
        boolean replacesMain = withDefaultApplication
                && (ownMain || isMute(build) || build.spec().application() != answering);
        if (runsOn.isHost() && ownMain && !replacesMain) {
            requireTrust(objects.project());
        }
        if (!build.hasStandIn() && !replacesMain) {
            steps.requireLinked(objects);
            return new RunnableImage(build.spec().layout().image("elf"), runsOn, ownMain, false);
        }
        if (build.hasStandIn()) {
            log.info(build.board().id() + " has no emulator of its own: the same objects run on its stand-in "
                    + runsOn.id());
        }
        // A program of the project's own is told of by those who verify or measure.
        if (replacesMain && !ownMain) {
            log.info(described(answering) + " replaces "
                    + described(build.spec().application()).replaceFirst("^The", "the")
                    + ", because it answers the host");
        }
        Path folder = build.spec().layout().reports().resolve(replacesMain ? "verify-image" : "stand-in");
        FirmwareRequest first = steps.request().on(replacesMain ? runsOn : build.requireRunsProgram(), folder);
        FirmwareRequest request = replacesMain ? first.with(first.content().replacingMain(answering)) : first;
        CompiledObjects relinked =
                FirmwareCompiler.compileStandIn(FirmwareAssembler.assemble(request, Log.QUIET), objects, Log.QUIET);
        Path elf = FirmwareLinker.link(relinked, folder, "image", Log.QUIET).elf();
        return new RunnableImage(elf, runsOn, ownMain && !replacesMain, replacesMain);
    }

    /** Whether the default application could not answer, because the board's console is left out. */
    private static boolean isMute(ResolvedBuild build) {
        return build.spec().image().code().own().console() != OwnParts.Console.BOARD;
    }

    private static String described(Application application) {
        return switch (application) {
            case CONSOLE -> "The default application";
            case RPC -> "The RPC server";
            case MLPERF_TINY -> "The protocol of MLPerf Tiny";
        };
    }

    /**
     * Refuses untrusted code beside the project's own main: only the default application is known to enable its sandbox before it
     * calls such code.
     */
    private static void requireTrust(FirmwareProject project) {
        Problems problems = new Problems(Failure.TRUST);
        for (String advice : project.strangers().advice()) {
            problems.add(
                    "refused: the project's own main would run untrusted code on this computer",
                    "board " + project.board().id(),
                    "a board in an emulator",
                    advice);
        }
        problems.throwIfAny();
    }

    /** The name of what runs the image, for reports. */
    public static String name(ResolvedBuild build, Emulator emulator) {
        return build.hasStandIn() ? emulator.name() + " (stand-in)" : emulator.name();
    }
}
