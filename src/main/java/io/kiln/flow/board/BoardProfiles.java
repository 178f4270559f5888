// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.board;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.UserCode;
import io.kiln.firmware.image.Image;
import io.kiln.flow.resolve.ToolchainChoice;
import io.kiln.flow.state.PluginVersion;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.Toolchain;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.compiler.Toolchains;
import io.kiln.toolchain.pack.PackSource;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Checks a folder of board profiles and packs it as a zip for publication. */
public final class BoardProfiles {
    private static final String EMPTY_APPLICATION =
            "/* SPDX-License-Identifier: Apache-2.0 */\nint main(void) {\n  return 0;\n}\n";

    private final Path folder;
    private final Log log;

    /**
     * @param folder one folder for each profile
     * @param log gets one line for each board
     */
    public BoardProfiles(Path folder, Log log) {
        this.folder = folder;
        this.log = log;
    }

    /**
     * Reads every profile; for every board it compiles and links an empty application, and one that fills the memories of its pools, with
     * the toolchain that a build takes by default.
     *
     * @param work folder in which the applications are built
     * @throws KilnException with all errors of all profiles
     */
    public void check(Path work, ToolchainEnvironment environment) {
        if (Boards.in(folder).isEmpty()) {
            throw new KilnException(Failure.BOARD.problem(
                    "there is no board", folder.toString(), "a folder with a board.yaml for each board", ""));
        }
        Boards all = Boards.builtIn().with(PackSource.of(environment.fetcher())).with(folder);
        Problems problems = new Problems(Failure.BOARD);
        for (String id : Boards.in(folder)) {
            if (!all.ids().contains(id)) {
                continue;
            }
            try {
                build(all.find(id), work.resolve(id), environment);
                log.info("Board " + id
                        + ": an empty application compiles and links, and so does one that fills its memories");
            } catch (KilnException e) {
                e.problems().forEach(problems::add);
            }
        }
        problems.throwIfAny();
    }

    private static void build(Board board, Path work, ToolchainEnvironment environment) {
        Toolchain toolchain = Toolchains.resolve(
                ToolchainChoice.of(Optional.empty(), board), TargetOptions.parse(board.target()), environment);
        Image empty = link(board, toolchain, EMPTY_APPLICATION, work, "empty");
        if (board.pools().isPresent()) {
            String largest = LargestApplication.of(board, empty.measurement());
            try {
                link(board, toolchain, largest, work.resolve("largest"), "largest");
            } catch (KilnException e) {
                throw new KilnException(Failure.BOARD.problem(
                        "an application that fills the memories does not link: " + e.getMessage(),
                        board.origin(),
                        "a linker script with as much room as the memories of the board have",
                        ""));
            }
        }
    }

    private static Image link(Board board, Toolchain toolchain, String main, Path work, String name) {
        Path application = work.resolve("application");
        WholeFiles.write(application.resolve("main.c"), main);
        FirmwareRequest request = new FirmwareRequest(
                board,
                toolchain,
                Optimize.SIZE,
                new FirmwareRequest.Content(List.of(), UserCode.of(application)),
                FirmwareRequest.Folders.in(work),
                PluginVersion.text());
        CompiledObjects objects = FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
        return FirmwareLinker.link(objects, work, name, Log.QUIET);
    }

    /**
     * Writes the zip: one folder per profile at its root. Equal profiles give equal bytes.
     *
     * @throws KilnException if a profile has files that no build could read from the zip
     */
    public void pack(Path zip) {
        Boards.pack(folder, zip);
        log.info("Packed " + String.join(", ", Boards.in(folder)) + " in " + zip);
    }
}
