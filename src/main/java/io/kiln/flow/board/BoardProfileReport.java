// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.board;

import io.kiln.report.listing.BoardsReport.Console;
import io.kiln.report.listing.BoardsReport.Emulator;
import io.kiln.report.listing.BoardsReport.Memory;
import io.kiln.report.listing.BoardsReport.Profile;
import io.kiln.report.listing.BoardsReport.Timer;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.board.Flashing;
import io.kiln.toolchain.board.PoolMemories;
import java.util.List;
import java.util.Locale;

/** Describes a board for programs. */
final class BoardProfileReport {
    private static final String NONE = "none";

    private BoardProfileReport() {}

    static Profile of(Board board) {
        return new Profile(
                board.title(),
                board.target(),
                !board.foreign(),
                board.memories().stream()
                        .map(memory -> new Memory(
                                memory.name(),
                                memory.kind().name().toLowerCase(Locale.ROOT),
                                memory.base(),
                                memory.size(),
                                memory.targets()))
                        .toList(),
                board.pools().map(PoolMemories::workspace).orElse(List.of()),
                board.pools().map(PoolMemories::constants).orElse(List.of()),
                board.console()
                        .map(console -> new Console(console.uart(), console.baud(), console.usb()))
                        .orElse(null),
                board.timer()
                        .map(timer -> new Timer(timer.counter(), timer.hertz(), timer.countsCycles()))
                        .orElse(null),
                emulator(board.emulation()),
                board.flashing().map(BoardProfileReport::flash).orElse(NONE));
    }

    private static Emulator emulator(Emulation emulation) {
        if (emulation instanceof Emulation.Qemu qemu) {
            return new Emulator("qemu", qemu.program() + " " + qemu.machine());
        }
        if (emulation instanceof Emulation.StandIn standIn) {
            return new Emulator("standIn", standIn.board());
        }
        return new Emulator(emulation instanceof Emulation.Native ? "native" : NONE, "");
    }

    private static String flash(Flashing flashing) {
        if (flashing instanceof Flashing.OpenOcd openOcd) {
            return openOcd.isVirtual() ? "virtual" : "openocd";
        }
        if (flashing instanceof Flashing.Service) {
            return "service";
        }
        return flashing instanceof Flashing.Programs programs
                ? programs.beside()
                        .map(BoardProfileReport::flash)
                        .orElse(programs.programs().get(0).definition().id())
                : "project-api";
    }
}
