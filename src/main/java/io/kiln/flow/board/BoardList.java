// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.board;

import io.kiln.base.KilnException;
import io.kiln.report.Table;
import io.kiln.report.listing.BoardsReport;
import io.kiln.report.listing.BoardsReport.Entry;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import java.util.List;
import java.util.Optional;

/**
 * Lists boards for people: source, title, memory sizes and what runs their images.
 *
 * @param boards all visible boards
 */
public record BoardList(Boards boards) {
    private static final long KIB = 1024;

    /** A heading, and one line for each board, including broken and refused ones. */
    public List<String> lines() {
        Table table = new Table("board", "flash", "ram", "runs on", "from", "title");
        for (String id : boards.ids()) {
            try {
                Board board = boards.find(id);
                table.row(
                        id,
                        size(board.constants()),
                        size(board.workspace()),
                        runsOn(board),
                        boards.origin(id),
                        board.title());
            } catch (KilnException e) {
                String what = "cannot be used: kiln:boards -Dkiln.board=" + id + " says why";
                table.row(id, "-", "-", "-", boards.origin(id), what);
            }
        }
        return table.lines();
    }

    /** The list of boards for programs. */
    public BoardsReport report() {
        return report(boards.ids());
    }

    /**
     * One board for programs.
     *
     * @throws KilnException if there is no such board, or with all of its errors
     */
    public BoardsReport report(String id) {
        return report(List.of(boards.find(id).id()));
    }

    private BoardsReport report(List<String> ids) {
        return new BoardsReport(ids.stream().map(this::entry).toList());
    }

    private Entry entry(String id) {
        try {
            return new Entry(id, boards.origin(id), BoardProfileReport.of(boards.find(id)), null);
        } catch (KilnException e) {
            return new Entry(id, boards.origin(id), null, e.getMessage());
        }
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
