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
import java.util.OptionalLong;
import java.util.function.Predicate;

/** Measures an image from its sections and symbols. */
public final class ImageMeasurer {
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
        return new Ram(data, Math.max(0, zeroed - workspace - io), state, workspace, io, stack, available(Kind.RAM));
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
            regions.add(
                    new Region(memory.name(), extent > memory.size() ? extent : sum, memory.size(), memory.targets()));
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
