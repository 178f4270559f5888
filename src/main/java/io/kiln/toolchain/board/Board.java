// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A board profile, merged with everything that it inherits.
 *
 * @param id name of its folder, as in {@code kiln.board}
 * @param title one line for people
 * @param maker the vendor
 * @param target target string of the compiler, such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=mps2-an386}
 * @param memories memories that an image may use; empty for the board {@code host}
 * @param pools which memory holds what; absent for the board {@code host}
 * @param sources names of the C and assembler files to compile, keys of {@link #files}
 * @param linker name of the linker script, a key of {@link #files}; its folder must be on the linker's search path
 * @param console the serial console of the image
 * @param timer what {@code TVMPlatformTimerStart} and {@code TVMPlatformTimerStop} count by; empty if the board has no timer
 * @param emulation what runs an image without the hardware
 * @param flashing what writes images to the hardware; empty if the board cannot be flashed
 * @param building how its firmware is built
 * @param files every file of the profile and of those it extends, by path relative to the profile's folder
 * @param origin path of its board.yaml
 * @param untrusted {@code group:artifact:version:id} of each part that the build does not trust
 * @param foreignFiles those of {@link #files} that belong to an untrusted part
 */
public record Board(
        String id,
        String title,
        Maker maker,
        String target,
        List<Memory> memories,
        Optional<PoolMemories> pools,
        List<String> sources,
        Optional<String> linker,
        Optional<Console> console,
        Optional<BoardTimer> timer,
        Emulation emulation,
        Optional<Flashing> flashing,
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

    /** The target with the parts of other code generators before it. */
    public String compositeTarget() {
        return Stream.concat(building.codegens().stream(), Stream.of(target)).collect(Collectors.joining(", "));
    }

    /** The same board with further linker flags. */
    public Board linkedWith(List<String> more) {
        List<String> link = new ArrayList<>(building.link());
        link.addAll(more);
        return with(
                target, emulation, new Building(building.toolchain(), building.compile(), link, building.codegens()));
    }

    /**
     * The same board with further compiler flags.
     *
     * @throws KilnException naming each flag that no profile may have either
     */
    public Board compiledWith(List<String> more) {
        Problems problems = new Problems();
        for (String flag : more) {
            CompilerFlags.refusal(flag)
                    .ifPresent(refusal -> problems.add(
                            "refused: the compiler flag " + CompilerFlags.printable(flag) + ": " + refusal.why(),
                            "board " + id,
                            CompilerFlags.ALLOWED,
                            refusal.remedy()));
        }
        problems.throwIfAny();
        List<String> compile = new ArrayList<>(building.compile());
        compile.addAll(more);
        return with(
                target, emulation, new Building(building.toolchain(), compile, building.link(), building.codegens()));
    }

    /** The same board for images that hold untrusted code. */
    public Board fenced() {
        return emulation instanceof Emulation.Qemu qemu
                ? with(target, new Emulation.Qemu(qemu.program(), qemu.machine(), qemu.args(), true), building)
                : this;
    }

    /** The same board with another target for the models' code. */
    public Board withTarget(String other) {
        return with(other, emulation, building);
    }

    private Board with(String otherTarget, Emulation otherEmulation, Building otherBuilding) {
        return new Board(
                id,
                title,
                maker,
                otherTarget,
                memories,
                pools,
                sources,
                linker,
                console,
                timer,
                otherEmulation,
                flashing,
                otherBuilding,
                files,
                origin,
                untrusted,
                foreignFiles);
    }

    /** How OpenOCD reaches the hardware, if it is what flashes the board. */
    public Optional<Flashing.OpenOcd> openOcd() {
        return flashing.filter(Flashing.OpenOcd.class::isInstance).map(Flashing.OpenOcd.class::cast);
    }

    /** The Project API server, if one flashes the board. */
    public Optional<Flashing.ProjectApi> projectApi() {
        return flashing.filter(Flashing.ProjectApi.class::isInstance).map(Flashing.ProjectApi.class::cast);
    }

    /** Whether any part of it is untrusted. */
    public boolean foreign() {
        return !untrusted.isEmpty();
    }

    /** How to trust all of it; empty if the build does. */
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

    /** The memory of code and constants; empty for the board {@code host}. */
    public Optional<Memory> constants() {
        return pools.flatMap(p -> memory(p.code()));
    }

    /** The linker script for images whose constants do not fit in the first memory. */
    public Optional<String> moreLinker() {
        return linker.filter(script -> moreConstants().isPresent())
                .map(script -> script.replaceFirst("\\.ld$", ".more.ld"));
    }

    /** The second memory of constants, for those that do not fit in the first. */
    public Optional<Memory> moreConstants() {
        return pools.flatMap(PoolMemories::moreConstants).flatMap(this::memory);
    }

    /** First address of the parameters of graphs, if they have flash sectors of their own. */
    public OptionalLong parameters() {
        return pools.map(PoolMemories::parameters).orElse(OptionalLong.empty());
    }

    /** The linker script for images whose parameters lie there. */
    public Optional<String> parametersLinker() {
        return linker.filter(script -> parameters().isPresent())
                .map(script -> script.replaceFirst("\\.ld$", ".parameters.ld"));
    }

    /** The memory of workspace, variables and stack; empty for the board {@code host}. */
    public Optional<Memory> workspace() {
        return pools.flatMap(p -> memory(p.variables()));
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
     * The vendor of a board.
     *
     * @param vendor name, if the profile says it
     * @param url the vendor's page about the board, if the profile says it
     */
    public record Maker(Optional<String> vendor, Optional<String> url) {
        /** No vendor is named. */
        public static final Maker UNKNOWN = new Maker(Optional.empty(), Optional.empty());
    }

    /**
     * A memory of the board.
     *
     * @param name unique within the board
     * @param kind what it can hold
     * @param base first address
     * @param size bytes, at least 1
     * @param speed its relative speed
     * @param waits how long it makes the core wait, if the profile says it
     */
    public record Memory(String name, Kind kind, long base, long size, Speed speed, Optional<MemoryWait> waits) {
        /** A memory of ordinary speed whose wait states are not known. */
        public Memory(String name, Kind kind, long base, long size) {
            this(name, kind, base, size, Speed.NORMAL, Optional.empty());
        }

        /** The address after the last byte. */
        public long end() {
            return base + size;
        }
    }

    /** The speed of a memory relative to the others of its board. */
    public enum Speed {
        /** No wait states. */
        FAST,
        /** Some wait states, or cached. */
        NORMAL,
        /** Behind a serial or narrow bus. */
        SLOW
    }

    /** What a memory can hold. */
    public enum Kind {
        /** Non-volatile, and not written by the running image. */
        ROM,
        /** Holds variables. */
        RAM
    }

    /**
     * The serial console of the image.
     *
     * @param uart name of the peripheral, for people
     * @param baud bits per second, 8N1
     * @param usb USB ids of the device that provides the serial port, {@code vendor:product} in lower-case hexadecimal
     */
    public record Console(String uart, int baud, List<String> usb) {
        public Console {
            usb = List.copyOf(usb);
        }

        /** A console without known USB ids. */
        public Console(String uart, int baud) {
            this(uart, baud, List.of());
        }
    }
}
