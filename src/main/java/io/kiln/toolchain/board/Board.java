// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.base.Bytes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A board profile with everything inherited already merged in.
 *
 * @param id name of its folder, as in {@code kiln.board}
 * @param title one line for people
 * @param maker who makes it
 * @param target target string of the compiler, such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=mps2-an386}
 * @param memories memories that an image may use; empty if the board is this computer
 * @param pools which memory holds what; absent if the board is this computer
 * @param sources names of the C and assembler files to compile, keys of {@link #files}
 * @param linker name of the linker script, a key of {@link #files}; its folder must be on the linker's search path
 * @param console the serial line that the image speaks on
 * @param timer what {@code TVMPlatformTimerStart} and {@code TVMPlatformTimerStop} count by; empty if the board has no timer
 * @param emulation what runs an image without the hardware
 * @param openOcd how OpenOCD reaches the hardware; empty if the board cannot be flashed
 * @param building what its firmware is built with
 * @param files every file of the profile and of those it extends, by path relative to the profile's folder
 * @param origin where the profile came from: its board.yaml
 * @param untrusted {@code group:artifact:version:id} of each part that somebody else wrote and that the build does not say it trusts
 * @param foreignFiles those of {@link #files} that came with such a part
 */
public record Board(
        String id,
        String title,
        Maker maker,
        String target,
        List<Memory> memories,
        Optional<Pools> pools,
        List<String> sources,
        Optional<String> linker,
        Optional<Console> console,
        Optional<Timer> timer,
        Emulation emulation,
        Optional<OpenOcd> openOcd,
        Building building,
        SortedMap<String, Bytes> files,
        String origin,
        List<String> untrusted,
        Set<String> foreignFiles) {
    public Board {
        memories = List.copyOf(memories);
        sources = List.copyOf(sources);
        untrusted = List.copyOf(untrusted);
        foreignFiles = Set.copyOf(foreignFiles);
        files = Collections.unmodifiableSortedMap(new TreeMap<>(files));
    }

    /** The same board, linked with these flags besides. */
    public Board linkedWith(List<String> more) {
        List<String> link = new ArrayList<>(building.link());
        link.addAll(more);
        return with(emulation, new Building(building.toolchain(), building.compile(), link));
    }

    /** The same board for images that hold code which the build does not trust. */
    Board fenced() {
        return emulation instanceof Emulation.Qemu qemu
                ? with(new Emulation.Qemu(qemu.program(), qemu.machine(), qemu.args(), true), building)
                : this;
    }

    private Board with(Emulation otherEmulation, Building otherBuilding) {
        return new Board(
                id,
                title,
                maker,
                target,
                memories,
                pools,
                sources,
                linker,
                console,
                timer,
                otherEmulation,
                openOcd,
                otherBuilding,
                files,
                origin,
                untrusted,
                foreignFiles);
    }

    /** Whether somebody else wrote any part of it, and the build does not say that it trusts it. */
    public boolean foreign() {
        return !untrusted.isEmpty();
    }

    /** How to say that the build trusts all of it; empty if it does. */
    public String trustAdvice() {
        return foreign() ? trustAdvice(untrusted) : "";
    }

    static String trustAdvice(List<String> coordinates) {
        return "If you trust who wrote it: <trustBoard>" + String.join(",", coordinates) + "</trustBoard>";
    }

    /** The profile's own scripts for OpenOCD, by path. */
    public SortedMap<String, Bytes> scripts() {
        TreeMap<String, Bytes> scripts = new TreeMap<>();
        files.forEach((name, content) -> {
            if (name.endsWith(".cfg") || name.endsWith(".tcl")) {
                scripts.put(name, content);
            }
        });
        return scripts;
    }

    /** Whether images of this board run on this computer, as plain executables. */
    public boolean isHost() {
        return emulation instanceof Emulation.Native;
    }

    /** The memory of this name. */
    public Optional<Memory> memory(String name) {
        return memories.stream().filter(m -> m.name().equals(name)).findFirst();
    }

    /** Bytes of the memory that holds code and constants; empty if the board is this computer. */
    public Optional<Memory> constants() {
        return pools.flatMap(p -> memory(p.constants()));
    }

    /** The linker script for images whose constants do not fit in the first memory. */
    public Optional<String> moreLinker() {
        return linker.filter(script -> moreConstants().isPresent())
                .map(script -> script.replaceFirst("\\.ld$", ".more.ld"));
    }

    /** The memory of constants that do not fit in the first one. */
    public Optional<Memory> moreConstants() {
        return pools.flatMap(Pools::moreConstants).flatMap(this::memory);
    }

    /** Bytes of the memory that holds the workspace, variables and stack; empty if the board is this computer. */
    public Optional<Memory> workspace() {
        return pools.flatMap(p -> memory(p.workspace()));
    }

    /** The value of an option of the target string, such as {@code mcpu}. */
    public Optional<String> targetOption(String key) {
        String prefix = "-" + key + "=";
        for (String word : target.split(" ", -1)) {
            if (word.startsWith(prefix)) {
                return Optional.of(word.substring(prefix.length()));
            }
        }
        return Optional.empty();
    }

    /**
     * Who makes a board.
     *
     * @param vendor name; empty if the profile does not say
     * @param url the vendor's page about the board; empty if the profile does not say
     */
    public record Maker(Optional<String> vendor, Optional<String> url) {
        /** Nobody is named. */
        public static final Maker UNKNOWN = new Maker(Optional.empty(), Optional.empty());
    }

    /**
     * A memory of the board.
     *
     * @param name unique within the board
     * @param kind whether the image's constants may lie there before it runs
     * @param base first address
     * @param size bytes, at least 1
     * @param speed how fast it is
     */
    public record Memory(String name, Kind kind, long base, long size, Speed speed) {
        /** A memory of ordinary speed. */
        public Memory(String name, Kind kind, long base, long size) {
            this(name, kind, base, size, Speed.NORMAL);
        }

        /** The address behind the last byte. */
        public long end() {
            return base + size;
        }
    }

    /** How fast a memory is, against the others of its board. */
    public enum Speed {
        /** No wait states. */
        FAST,
        /** Some wait states, or a cache before it. */
        NORMAL,
        /** Behind a serial or narrow bus. */
        SLOW
    }

    /** What a memory can hold. */
    public enum Kind {
        /** Keeps its content without power and is not written by the running image. */
        ROM,
        /** Holds variables. */
        RAM
    }

    /**
     * Names of memories.
     *
     * @param workspace the one that holds the workspace, variables and stack
     * @param constants the one that holds code, weights and tables
     * @param moreConstants the one that holds those weights and tables that do not fit in the first; empty if there is none
     */
    public record Pools(String workspace, String constants, Optional<String> moreConstants) {}

    /**
     * The serial line that the image speaks on.
     *
     * @param uart name of the peripheral, for people
     * @param baud bits per second, 8N1
     * @param usb USB ids, {@code vendor:product} in lower-case hexadecimal, of what shows the line as a serial port; may be empty
     */
    public record Console(String uart, int baud, List<String> usb) {
        public Console {
            usb = List.copyOf(usb);
        }

        /** A line that nothing is known of to show it by USB. */
        public Console(String uart, int baud) {
            this(uart, baud, List.of());
        }
    }

    /**
     * What a board measures time by.
     *
     * @param counter name of the peripheral, for people
     * @param hertz ticks of a second; one of them is the resolution of all times
     */
    public record Timer(String counter, long hertz) {}

    /**
     * What the firmware of a board is built with.
     *
     * @param toolchain the one to take; empty if any does
     * @param compile flags of every compilation, behind the toolchain's own; a folder that {@code -I} names is one of the board
     * @param link flags of every link, behind the toolchain's own
     */
    public record Building(Optional<Choice> toolchain, List<String> compile, List<String> link) {
        /** Nothing in particular. */
        public static final Building PLAIN = new Building(Optional.empty(), List.of(), List.of());

        public Building {
            compile = List.copyOf(compile);
            link = List.copyOf(link);
        }
    }

    /**
     * A toolchain that a board asks for.
     *
     * @param toolchain id of a built-in descriptor
     * @param required whether no other one will do
     * @param where file and line that say so
     */
    public record Choice(String toolchain, boolean required, String where) {}

    /**
     * How OpenOCD reaches the hardware.
     *
     * @param interfaceConfig configuration file of the probe, in OpenOCD's search path; empty if the probe is virtual
     * @param targetConfig configuration file of the chip, in OpenOCD's search path
     * @param transport such as {@code swd} or {@code hla_swd}; empty for the probe's default
     * @param speedKilohertz clock of the probe; 0 for the configuration's own
     * @param chipId what the chip must say of itself before anything is erased; empty if nothing is known to ask for
     */
    public record OpenOcd(
            String interfaceConfig,
            String targetConfig,
            Optional<String> transport,
            int speedKilohertz,
            Optional<ChipId> chipId) {
        /** A chip that is not asked for its identity. */
        public OpenOcd(String interfaceConfig, String targetConfig, Optional<String> transport, int speedKilohertz) {
            this(interfaceConfig, targetConfig, transport, speedKilohertz, Optional.empty());
        }

        /** Whether Kiln's virtual probe and chip take the place of hardware. */
        public boolean isVirtual() {
            return interfaceConfig.isEmpty();
        }
    }

    /**
     * A word of memory by which a chip is told from its relatives, which OpenOCD takes for the same.
     *
     * @param address of the word, a multiple of 4
     * @param mask the bits that count, 1 to 0xffffffff
     * @param value what they are, no bit outside the mask
     */
    public record ChipId(long address, long mask, long value) {}
}
