// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.listing;

import io.kiln.report.Json.OrEmpty;
import io.kiln.report.Json.OrNull;
import java.util.List;

/**
 * Boards as {@code kiln:boards} prints them.
 *
 * @param boards in the order of their ids
 */
public record BoardsReport(List<Entry> boards) {
    public BoardsReport {
        boards = List.copyOf(boards);
    }

    /**
     * A board.
     *
     * @param from {@code built in}, the project, or the coordinates of a dependency
     * @param profile what it is; null if it cannot be used
     * @param problem why it cannot be used; null if it can
     */
    public record Entry(
            String id,
            String from,

            @OrNull Profile profile,

            @OrNull String problem) {}

    /**
     * A board that can be used.
     *
     * @param target the compiler's target string
     * @param trusted whether it may name programs of this computer
     * @param memories by the profile's order; empty for this computer
     * @param workspace names of the memories of workspaces; the last one holds variables and stack as well
     * @param constants names of the memories of constants; the first one holds the code as well
     * @param console the serial line; null for this computer
     * @param timer null if there is none
     * @param emulator what runs images without the hardware
     * @param flash {@code openocd}, {@code virtual}, {@code project-api} or {@code none}
     */
    public record Profile(
            String title,
            String target,
            boolean trusted,
            List<Memory> memories,
            List<String> workspace,
            List<String> constants,

            @OrNull Console console,

            @OrNull Timer timer,

            Emulator emulator,
            String flash) {
        public Profile {
            memories = List.copyOf(memories);
            workspace = List.copyOf(workspace);
            constants = List.copyOf(constants);
        }
    }

    /**
     * A memory.
     *
     * @param kind {@code rom} or {@code ram}
     * @param base its first address
     * @param bytes its size
     * @param targets keys of the targets that reach it; empty if all do
     */
    public record Memory(
            String name,
            String kind,
            long base,
            long bytes,

            @OrEmpty List<String> targets) {
        public Memory {
            targets = List.copyOf(targets);
        }
    }

    /**
     * The serial line.
     *
     * @param usb ids of the device that provides it, {@code vendor:product}
     */
    public record Console(String uart, int baud, List<String> usb) {
        public Console {
            usb = List.copyOf(usb);
        }
    }

    /**
     * What times are counted by.
     *
     * @param cycles whether a tick is a cycle of the core
     */
    public record Timer(String counter, long hertz, boolean cycles) {}

    /**
     * What runs images without the hardware.
     *
     * @param kind {@code qemu}, {@code standIn}, {@code native} or {@code none}
     * @param name QEMU's program and machine, or the other board; empty for the others
     */
    public record Emulator(String kind, String name) {}
}
