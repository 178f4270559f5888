// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Section;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.firmware.image.Measurement.Flash;
import io.kiln.firmware.image.Measurement.Item;
import io.kiln.firmware.image.Measurement.PlacedSection;
import io.kiln.firmware.image.Measurement.Ram;
import io.kiln.firmware.image.Measurement.Region;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Kind;
import io.kiln.toolchain.board.Board.Memory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.function.Predicate;

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

    /** Prints a measurement for people. */
    public static final class MemoryTable {
        private static final int LARGEST = 5;

        private MemoryTable() {}

        /** One line: used and available memory. */
        public static String line(Measurement measurement) {
            return "flash "
                    + of(measurement.flash().total(), measurement.flash().available()) + ", RAM "
                    + of(measurement.ram().total(), measurement.ram().available());
        }

        /** Every memory, what it is used for, and the largest parts. */
        public static String table(Measurement measurement) {
            List<String> lines = new ArrayList<>();
            if (!measurement.regions().isEmpty()) {
                lines.add(row("memory", "needed", "available", ""));
                for (Region region : measurement.regions()) {
                    String excess = region.excess() == 0 ? "" : number(region.excess()) + " too many ";
                    String reach = region.targets().isEmpty()
                            ? ""
                            : "reached by " + String.join(", ", region.targets()) + " only";
                    lines.add(row(region.name(), number(region.used()), number(region.available()), excess + reach));
                }
            }
            Flash flash = measurement.flash();
            lines.add("flash: " + number(flash.text()) + " code, " + number(flash.constants()) + " constants, "
                    + number(flash.data()) + " initial values");
            Ram ram = measurement.ram();
            lines.add("RAM: " + number(ram.workspace()) + " workspace, " + number(ram.io())
                    + " inputs and outputs of the default application, "
                    + number(ram.stack()) + " stack, " + number(ram.data() + ram.bss()) + " other variables"
                    + (ram.state() > 0 ? ", " + number(ram.state()) + " of them state of models" : ""));
            measurement.largest().stream()
                    .limit(LARGEST)
                    .forEach(item -> lines.add(String.format(
                            Locale.ROOT,
                            "  %12s  %s (%s)",
                            number(item.bytes()),
                            item.name(),
                            item.writable() ? "RAM" : "flash")));
            return String.join("\n", lines);
        }

        private static String row(String first, String second, String third, String last) {
            return String.format(Locale.ROOT, "  %-12s %12s %12s  %s", first, second, third, last)
                    .stripTrailing();
        }

        private static String of(long used, OptionalLong available) {
            return number(used) + (available.isPresent() ? " of " + number(available.getAsLong()) : "") + " bytes";
        }

        private static String number(long value) {
            return String.format(Locale.ROOT, "%,d", value);
        }
    }

    /** Measures an image from its sections and symbols. */
    public static final class ImageMeasurer {
        /** Prefix of the names of the buffers for inputs and outputs. */
        private static final String IO_PREFIX = "kiln_app_io";

        /** Names of workspace pools contain this: {@code global_workspace}, {@code kiln_app_workspace_sram}. */
        private static final String WORKSPACE = "workspace";

        private static final String STACK_SECTION = ".stack";
        private static final String STACK_SIZE = "__stack_size";
        private static final int LARGEST = 20;

        private final ElfFile elf;
        private final Board board;

        private ImageMeasurer(ElfFile elf, Board board) {
            this.elf = elf;
            this.board = board;
        }

        public static Measurement measure(ElfFile elf, Board board) {
            ImageMeasurer measurer = new ImageMeasurer(elf, board);
            return new Measurement(
                    measurer.flash(), measurer.ram(), measurer.regions(), measurer.sections(), measurer.largest());
        }

        /** Sections of an image that lie where its board has no memory: farther behind the nearest one than an image that overflows would reach. */
        public static List<PlacedSection> strays(ElfFile elf, Board board) {
            ImageMeasurer measurer = new ImageMeasurer(elf, board);
            long all = measurer.bytes(section -> true);
            return board.memories().isEmpty()
                    ? List.of()
                    : measurer.sections().stream()
                            .filter(section -> section.bytes() > 0 && measurer.isStray(section.address(), all))
                            .toList();
        }

        private boolean isStray(long address, long bytes) {
            return board.memories().stream()
                    .noneMatch(memory -> memory.base() <= address && address < memory.end() + bytes);
        }

        private Flash flash() {
            long text = bytes(s -> s.hasContent() && !isData(s) && isCode(s));
            long constants = bytes(s -> s.hasContent() && !isData(s) && !isCode(s));
            return new Flash(text, constants, bytes(s -> s.hasContent() && isData(s)), available(Kind.ROM));
        }

        private Ram ram() {
            long data = bytes(s -> s.hasContent() && isData(s));
            long zeroed = bytes(s -> !s.hasContent() && !s.name().startsWith(STACK_SECTION));
            long stack = bytes(s -> !s.hasContent() && s.name().startsWith(STACK_SECTION));
            if (stack == 0 && !board.isHost()) {
                stack = elf.symbolValue(STACK_SIZE).orElse(0L);
            }
            long workspace = workspace();
            long io = symbolBytes(symbol -> symbol.name().startsWith(IO_PREFIX));
            long state = symbolBytes(symbol -> InterfaceNames.isState(symbol.name()));
            return new Ram(
                    data, Math.max(0, zeroed - workspace - io), state, workspace, io, stack, available(Kind.RAM));
        }

        /** Bytes of the workspace: the pools' own section with its alignment if the linker script has one, otherwise the pools by name. */
        private long workspace() {
            long section = bytes(s -> s.name().startsWith(InterfaceNames.WORKSPACE_SECTION));
            return section > 0 ? section : symbolBytes(symbol -> symbol.name().contains(WORKSPACE));
        }

        /**
         * Whether a section holds variables with initial values. Constants without {@code const}, as pools of some versions of TVM,
         * count as constants: linker scripts go by the name. Code and constants that are copied to RAM count as variables.
         */
        private boolean isData(Section section) {
            return (section.hasContent() && elf.loadAddress(section) != section.address())
                    || (section.isWritable() && !section.name().startsWith(".rodata") && !isOfConstructors(section));
        }

        /**
         * Whether a section holds the pointers to constructors, which linkers mark as writable for dynamic linking. In an image they
         * lie beside the code.
         */
        private static boolean isOfConstructors(Section section) {
            return section.name().equals(".init_array");
        }

        private static boolean isCode(Section section) {
            return section.isExecutable()
                    || section.name().startsWith(".vectors")
                    || isOfConstructors(section)
                    || section.name().startsWith(".ARM.ex")
                    || section.name().startsWith(".eh_frame")
                    || section.isNote();
        }

        private long bytes(Predicate<Section> wanted) {
            return elf.sections().stream()
                    .filter(Section::isAllocated)
                    .filter(wanted)
                    .mapToLong(Section::size)
                    .sum();
        }

        /** Bytes of variables without initial value. */
        private long symbolBytes(Predicate<Symbol> wanted) {
            return elf.symbols().stream()
                    .filter(Symbol::isObject)
                    .filter(wanted)
                    .filter(symbol -> elf.sections().stream()
                            .anyMatch(s -> s.isAllocated() && !s.hasContent() && s.contains(symbol.value())))
                    .mapToLong(Symbol::size)
                    .sum();
        }

        /** Memories of a kind; a board that runs from RAM counts its constants' memory as flash. */
        private OptionalLong available(Kind kind) {
            if (board.memories().isEmpty()) {
                return OptionalLong.empty();
            }
            List<Memory> memories = board.memories().stream()
                    .filter(memory -> memory.kind() == kind && memory.mirrors().isEmpty())
                    .toList();
            if (memories.isEmpty()) {
                return (kind == Kind.ROM ? board.constants() : board.workspace())
                        .map(memory -> OptionalLong.of(memory.size()))
                        .orElse(OptionalLong.empty());
            }
            return OptionalLong.of(memories.stream().mapToLong(Memory::size).sum());
        }

        private List<Region> regions() {
            List<Region> regions = new ArrayList<>();
            for (Memory memory : board.memories()) {
                long sum = 0;
                long end = memory.base();
                for (Section section : elf.sections()) {
                    if (section.isAllocated()) {
                        long load = elf.loadAddress(section);
                        boolean copied = section.hasContent() && load != section.address();
                        if (isIn(memory, section.address())) {
                            sum += section.size();
                            end = Math.max(end, section.address() + section.size());
                        }
                        if (copied && isIn(memory, load)) {
                            sum += section.size();
                            end = Math.max(end, load + section.size());
                        }
                    }
                }
                long extent = end - memory.base();
                regions.add(new Region(
                        memory.name(), extent > memory.size() ? extent : sum, memory.size(), memory.targets()));
            }
            return regions;
        }

        /** Whether an address counts for a memory: content that overflows a memory lies behind its end but before the next memory. */
        private boolean isIn(Memory memory, long address) {
            return board.memories().stream()
                    .filter(other -> other.base() <= address)
                    .max(Comparator.comparingLong(Memory::base))
                    .filter(memory::equals)
                    .isPresent();
        }

        private List<PlacedSection> sections() {
            List<PlacedSection> placed = new ArrayList<>();
            for (Section section : elf.sections()) {
                if (section.isAllocated()) {
                    placed.add(placed(section, section.address()));
                    long load = elf.loadAddress(section);
                    if (section.hasContent() && load != section.address()) {
                        placed.add(placed(section, load));
                    }
                }
            }
            placed.sort(Comparator.comparingLong(PlacedSection::address));
            return placed;
        }

        private PlacedSection placed(Section section, long address) {
            String memory = board.memories().stream()
                    .filter(each -> isIn(each, address))
                    .map(Memory::name)
                    .findFirst()
                    .orElse("");
            return new PlacedSection(section.name(), memory, address, section.size());
        }

        private List<Item> largest() {
            return elf.symbols().stream()
                    .filter(symbol -> (symbol.isObject() || symbol.isFunction()) && symbol.size() > 0)
                    .sorted(Comparator.comparingLong(Symbol::size).reversed().thenComparing(Symbol::name))
                    .limit(LARGEST)
                    .map(symbol -> new Item(symbol.name(), symbol.size(), isInRam(symbol)))
                    .toList();
        }

        /** Constants that are copied to RAM lie in a section that nothing says to be writable. */
        private boolean isInRam(Symbol symbol) {
            if (symbol.section() >= elf.sections().size()) {
                return false;
            }
            Section section = elf.sections().get(symbol.section());
            return section.isWritable() || isData(section);
        }
    }
}
