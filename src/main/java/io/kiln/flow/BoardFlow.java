// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.Log;
import io.kiln.flow.board.BoardDescription;
import io.kiln.flow.board.BoardList;
import io.kiln.flow.board.NewBoard;
import io.kiln.flow.device.MonitorStep;
import io.kiln.flow.inspect.Doctor;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.ConsoleSpec;
import io.kiln.flow.spec.MonitorSpec;
import io.kiln.report.listing.BoardsReport;
import io.kiln.report.listing.ToolsReport;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.util.Optional;

/** What the goals do with boards and this computer's tools, without a model. Errors are those of {@link Flow}. */
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
    public void boards(BuildSpec spec, Optional<String> one) {
        one.map(id -> new BoardDescription(spec.boards(), id).lines())
                .orElseGet(() -> new BoardList(spec.boards()).lines())
                .forEach(log::info);
    }

    /** What {@link #boards} shows, for programs. */
    public BoardsReport boardsReport(BuildSpec spec, Optional<String> one) {
        BoardList list = new BoardList(spec.boards());
        return one.map(list::report).orElseGet(list::report);
    }

    /** Copies the build's board into the project's boards under another id. */
    public void newBoard(BuildSpec spec, String id) {
        new NewBoard(log, spec.boards()).write(spec.board(), id, spec.layout().userBoards());
    }

    /**
     * Reports which tools are installed and which are missing, and installs missing ones on request.
     *
     * @param port the port of a board whose protocol is tested; if it names no port, none is opened
     * @param strict whether missing tools are an error
     */
    public void doctor(BuildSpec spec, ConsoleSpec port, boolean install, boolean strict) {
        Doctor doctor = new Doctor(log, environment);
        doctor.run(spec, install, strict);
        doctor.ask(spec, port);
    }

    /**
     * What {@link #doctor} finds, for programs; nothing is installed.
     *
     * @param port likewise
     */
    public ToolsReport doctorReport(BuildSpec spec, ConsoleSpec port) {
        Doctor doctor = new Doctor(log, environment);
        return doctor.report(spec, port);
    }

    /** Shows the output of the board's serial console. */
    public void monitor(BuildSpec spec, MonitorSpec monitor) {
        Board board = spec.boards().find(spec.board());
        new MonitorStep(log, board, spec.layout().image("elf"), monitor).run();
    }
}
