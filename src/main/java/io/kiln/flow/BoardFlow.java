// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.Log;
import io.kiln.flow.board.BoardDescription;
import io.kiln.flow.board.BoardList;
import io.kiln.flow.board.NewBoard;
import io.kiln.flow.device.MonitorStep;
import io.kiln.flow.inspect.Doctor;
import io.kiln.flow.mlperf.MlperfStep;
import io.kiln.flow.spec.BoardSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.DoctorSpec;
import io.kiln.flow.spec.MlperfSpec;
import io.kiln.flow.spec.MonitorSpec;
import io.kiln.report.Table;
import io.kiln.report.listing.BoardsReport;
import io.kiln.report.listing.ToolsReport;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.pack.Packs;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The work of the goals that need boards and this computer's tools, but no model. Errors are those of {@link Flow}.
 *
 * @param log gets what is shown
 * @param environment where toolchains come from
 */
public record BoardFlow(Log log, ToolchainEnvironment environment) {
    /** Lists all visible boards, or shows one in full. */
    public void boards(Boards boards, Optional<String> one) {
        one.map(id -> new BoardDescription(boards, id).lines())
                .orElseGet(() -> new BoardList(boards).lines())
                .forEach(log::answer);
    }

    /** What {@link #boards} shows, for programs. */
    public BoardsReport boardsReport(Boards boards, Optional<String> one) {
        BoardList list = new BoardList(boards);
        return one.map(list::report).orElseGet(list::report);
    }

    /**
     * Copies a board under another id.
     *
     * @param folder the project's boards
     */
    public void newBoard(BoardSpec from, String id, Path folder) {
        new NewBoard(log, from.boards()).write(from.id(), id, folder);
    }

    /**
     * Writes a board for a device of a CMSIS-Pack.
     *
     * @param pack file or folder
     * @param device its name
     * @param id of the board; empty for the device's name
     * @param folder the project's boards
     */
    public void newBoard(Path pack, String device, String id, Path folder) {
        new NewBoard(log, Boards.builtIn()).write(pack, device, id, folder);
    }

    /** Lists the devices of CMSIS-Packs whose names match a text. */
    public static void devices(Log log, Path pack, String text) {
        Table table = new Table("device", "core", "clock", "flash", "ram", "pack", "");
        Packs.open(pack)
                .list(text)
                .forEach(each -> table.row(
                        each.name(),
                        each.cores(),
                        each.clock(),
                        each.flash(),
                        each.ram(),
                        each.pack(),
                        each.problem().isEmpty() ? "" : "no board: " + each.problem()));
        table.lines().forEach(log::answer);
    }

    /**
     * Reports what a project and its board need on this computer and what is missing, and installs missing tools on request. If the user names
     * a port, it says what the program there speaks.
     *
     * @param strict whether it is an error if something is missing
     */
    public void doctor(DoctorSpec spec, boolean install, boolean strict) {
        Doctor doctor = new Doctor(log, environment);
        doctor.run(spec, install, strict);
        doctor.ask(spec);
    }

    /** What {@link #doctor} finds, for programs; nothing is installed. */
    public ToolsReport doctorReport(DoctorSpec spec) {
        Doctor doctor = new Doctor(log, environment);
        return doctor.report(spec);
    }

    /**
     * Measures an image that speaks the protocol of MLPerf Tiny.
     *
     * @param build the folders of its build
     */
    public void mlperf(Board board, Layout build, MlperfSpec mlperf) {
        new MlperfStep(log, board, build, mlperf).run();
    }

    /**
     * Shows the output of a board's serial console.
     *
     * @param image the ELF file that it runs, for the names of functions; it need not exist
     */
    public void monitor(Board board, Path image, MonitorSpec monitor) {
        new MonitorStep(log, board, image, monitor).run();
    }
}
