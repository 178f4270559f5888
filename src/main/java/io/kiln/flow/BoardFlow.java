// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.Log;
import io.kiln.flow.board.BoardDescription;
import io.kiln.flow.board.BoardList;
import io.kiln.flow.board.NewBoard;
import io.kiln.flow.device.MonitorStep;
import io.kiln.flow.inspect.Doctor;
import io.kiln.flow.spec.BoardSpec;
import io.kiln.flow.spec.DoctorSpec;
import io.kiln.flow.spec.MonitorSpec;
import io.kiln.report.listing.BoardsReport;
import io.kiln.report.listing.ToolsReport;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.nio.file.Path;
import java.util.Optional;

/** The work of the goals that need boards and this computer's tools, but no model. Errors are those of {@link Flow}. */
public final class BoardFlow {
    private final Log log;
    private final ToolchainEnvironment environment;

    /**
     * @param log gets what is shown
     * @param environment where toolchains come from
     */
    public BoardFlow(Log log, ToolchainEnvironment environment) {
        this.log = log;
        this.environment = environment;
    }

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
     * Shows the output of a board's serial console.
     *
     * @param image the ELF file that it runs, for the names of functions; it need not exist
     */
    public void monitor(Board board, Path image, MonitorSpec monitor) {
        new MonitorStep(log, board, image, monitor).run();
    }
}
