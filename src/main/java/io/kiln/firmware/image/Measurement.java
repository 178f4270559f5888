// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import java.util.List;
import java.util.OptionalLong;

/**
 * The memory use of an image, in bytes.
 *
 * @param flash use of non-volatile memory
 * @param ram use of writable memory
 * @param regions use of each memory of the board; empty for an executable of this computer
 * @param sections every section in memory, by address
 * @param largest the largest functions and variables, largest first
 */
public record Measurement(
        Flash flash, Ram ram, List<Region> regions, List<PlacedSection> sections, List<Item> largest) {
    /** The result for an executable of an unknown format, as on a computer without ELF. */
    public static final Measurement NONE = new Measurement(
            new Flash(0, 0, 0, OptionalLong.empty()),
            new Ram(0, 0, 0, 0, 0, 0, OptionalLong.empty()),
            List.of(),
            List.of(),
            List.of());

    public Measurement {
        regions = List.copyOf(regions);
        sections = List.copyOf(sections);
        largest = List.copyOf(largest);
    }

    /**
     * The use of flash.
     *
     * @param text code, vectors and unwind tables
     * @param constants weights, tables, strings
     * @param data initial values of variables
     * @param available bytes of the board's memories for it; empty for this computer
     */
    public record Flash(long text, long constants, long data, OptionalLong available) {
        public long total() {
            return text + constants + data;
        }
    }

    /**
     * The use of RAM.
     *
     * @param data variables with an initial value
     * @param bss other variables, without workspace and io
     * @param state variables that models keep between runs; included in {@code bss}
     * @param workspace the models' workspaces
     * @param io buffers of the default application for inputs and outputs
     * @param stack the reserved stack
     * @param available bytes of the board's memories for it; empty for this computer
     */
    public record Ram(long data, long bss, long state, long workspace, long io, long stack, OptionalLong available) {
        public long total() {
            return data + bss + workspace + io + stack;
        }
    }

    /**
     * One memory of the board.
     *
     * @param used bytes that the image needs in it, alignment included
     * @param available its size
     * @param targets keys of the targets that reach it; empty if all do
     */
    public record Region(String name, long used, long available, List<String> targets) {
        public Region {
            targets = List.copyOf(targets);
        }

        /** Bytes that do not fit; 0 if all fit. */
        public long excess() {
            return Math.max(0, used - available);
        }
    }

    /**
     * A section, or the initial content of one that the program copies to RAM.
     *
     * @param memory name of the board's memory; empty for this computer
     */
    public record PlacedSection(String name, String memory, long address, long bytes) {}

    /**
     * A function or variable.
     *
     * @param name its symbol
     * @param bytes its size
     * @param writable whether it lies in RAM at run time
     */
    public record Item(String name, long bytes, boolean writable) {}

    /** Whether the image fits into every memory. */
    public boolean fits() {
        return regions.stream().allMatch(region -> region.excess() == 0);
    }
}
