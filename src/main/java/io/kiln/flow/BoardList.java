// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.report.Table;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Emulation;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.Boards;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Lists boards for people: what they are, how much memory they have and what runs their images. */
public final class BoardList {
    private static final long KIB = 1024;

    private final Boards boards;

    /**
     * The built-in boards and a project's own.
     *
     * @param userBoards folder of the project's boards; may be absent
     */
    public BoardList(Path userBoards) {
        boards = Boards.builtIn().with(userBoards);
    }

    /** One line for each board, under a heading. */
    public List<String> lines() {
        Table table = new Table("board", "flash", "ram", "runs on", "title");
        for (String id : boards.ids()) {
            Board board = boards.find(id);
            table.row(id, size(board.constants()), size(board.workspace()), runsOn(board), board.title());
        }
        return table.lines();
    }

    private static String size(Optional<Memory> memory) {
        return memory.map(m -> m.size() % KIB == 0 ? m.size() / KIB + " KiB" : m.size() + " B")
                .orElse("-");
    }

    private static String runsOn(Board board) {
        if (board.emulation() instanceof Emulation.Qemu qemu) {
            return qemu.program() + " " + qemu.machine();
        }
        if (board.emulation() instanceof Emulation.StandIn standIn) {
            return "stand-in " + standIn.board();
        }
        return board.emulation() instanceof Emulation.Native ? "this computer" : "-";
    }
}
