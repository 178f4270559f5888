// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.board;

import io.kiln.artifact.InterfaceNames;
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
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.firmware.image.Measurement;
import io.kiln.firmware.image.Measurement.Region;
import io.kiln.flow.resolve.Resolver.ToolchainChoice;
import io.kiln.flow.state.PluginVersion;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.PoolMemories;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.Toolchain;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.compiler.Toolchains;
import io.kiln.toolchain.pack.Packs.PackSource;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Checks a folder of board profiles and packs it as a zip for publication.
 *
 * @param folder one folder for each profile
 * @param log gets one line for each board
 */
public record BoardProfiles(Path folder, Log log) {
    private static final String EMPTY_APPLICATION =
            "/* SPDX-License-Identifier: Apache-2.0 */\nint main(void) {\n  return 0;\n}\n";

    /**
     * Reads every profile; for every board it compiles and links an empty application, and one that fills the memories of its pools, with
     * the toolchain that a build takes by default.
     *
     * @param work folder in which the applications are built
     * @throws KilnException with all errors of all profiles
     */
    public void check(Path work, ToolchainEnvironment environment) {
        if (Boards.in(folder).isEmpty()) {
            throw Failure.BOARD.exception(
                    "there is no board", folder.toString(), "a folder with a board.yaml for each board");
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
                throw Failure.BOARD.exception(
                        "an application that fills the memories does not link: " + e.getMessage(),
                        board.origin(),
                        "a linker script with as much room as the memories of the board have");
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

    /** The source of an application that fills the memories of a board's pools: an array in each of them takes what an empty application leaves. */
    private static final class LargestApplication {
        /** Left free for the code that touches the arrays, and for gaps between sections. */
        private static final long SPARE = 256;

        /** Images are files: of larger memories, as much as this is filled. */
        private static final long MOST_CONTENT = 16 << 20;

        private final Measurement empty;
        private final StringBuilder arrays = new StringBuilder();
        private final StringBuilder sum = new StringBuilder();

        private LargestApplication(Measurement empty) {
            this.empty = empty;
        }

        /**
         * The source, in C.
         *
         * @param board a board with pools
         * @param empty what an empty application takes of it
         */
        static String of(Board board, Measurement empty) {
            LargestApplication application = new LargestApplication(empty);
            PoolMemories pools = board.pools().orElseThrow();
            for (String memory : pools.constants()) {
                boolean isUsual = memory.equals(pools.code());
                application.add("const ", memory, isUsual ? "" : InterfaceNames.constantsSection(memory), " = {1}");
            }
            for (String memory : pools.workspace()) {
                boolean isUsual = memory.equals(pools.variables());
                application.add("", memory, isUsual ? "" : InterfaceNames.workspaceSection(memory), "");
            }
            return "/* SPDX-License-Identifier: Apache-2.0 */\n" + application.arrays
                    + "static volatile unsigned at;\n\nint main(void) {\n  return 0" + application.sum + ";\n}\n";
        }

        private void add(String qualifier, String memory, String section, String value) {
            long free = empty.regions().stream()
                            .filter(region -> region.name().equals(memory))
                            .mapToLong(LargestApplication::free)
                            .sum()
                    - SPARE;
            long bytes = value.isEmpty() ? free : Math.min(free, MOST_CONTENT);
            if (bytes > 0) {
                String placed = section.isEmpty() ? "" : "__attribute__((section(\"" + section + "\"))) ";
                arrays.append(placed + qualifier + "unsigned char in_" + memory + "[" + bytes + "u]" + value + ";\n");
                sum.append(" + in_" + memory + "[at]");
            }
        }

        private static long free(Region region) {
            return region.available() - region.used();
        }
    }
}
