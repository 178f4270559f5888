// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.base.Bytes;
import io.kiln.base.incremental.Fingerprint.NoInput;
import io.kiln.cycles.memory.MemoryWait;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A board profile, merged with everything that it inherits.
 *
 * @param identity what it is called, and where it comes from
 * @param target target string of the compiler, such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=mps2-an386}
 * @param memoryMap its memories
 * @param support its files
 * @param hardware how it is reached, and what stands in for it
 * @param building how its firmware is built
 */
public record Board(
        @NoInput(of = "generate", because = "generated C names no board")
        BoardIdentity identity,

        String target,
        BoardMemories memoryMap,

        @NoInput(
                of = "generate",
                because = "its files are compiled beside generated C; its tuning records are an input of their own")
        BoardSupport support,

        @NoInput(of = "generate", because = "generated C runs wherever its core does")
        BoardHardware hardware,

        Building building) {
    /** Name of its folder, as in {@code kiln.board}. */
    public String id() {
        return identity.id();
    }

    /** The board's title, one line for people. */
    public String title() {
        return identity.title();
    }

    public BoardIdentity.Maker maker() {
        return identity.maker();
    }

    /** Path of its board.yaml. */
    public String origin() {
        return identity.origin();
    }

    /** Memories that an image may use; empty for the board {@code host}. */
    public List<Memory> memories() {
        return memoryMap.memories();
    }

    /** Which memory holds what; absent for the board {@code host}. */
    public Optional<PoolMemories> pools() {
        return memoryMap.pools();
    }

    /** Names of the C and assembler files to compile, keys of {@link #files}. */
    public List<String> sources() {
        return support.sources();
    }

    /** Name of the linker script, a key of {@link #files}. */
    public Optional<String> linker() {
        return support.linker();
    }

    /** Every file of the profile and of those it extends, by path relative to the profile's folder. */
    public SortedMap<String, Bytes> files() {
        return support.files();
    }

    /** {@code group:artifact:version:id} of each part that the build does not trust. */
    public List<String> untrusted() {
        return support.untrusted();
    }

    /** The {@link #files} that belong to an untrusted part. */
    public Set<String> foreignFiles() {
        return support.foreignFiles();
    }

    /** The serial console of the image. */
    public Optional<Console> console() {
        return hardware.console();
    }

    /** Its Ethos-U, if it has one. */
    public Optional<BoardNpu> npu() {
        return hardware.npu();
    }

    /** What the platform's timer functions count by; empty if the board has no timer. */
    public Optional<BoardTimer> timer() {
        return hardware.timer();
    }

    /** What runs an image without the hardware. */
    public Emulation emulation() {
        return hardware.emulation();
    }

    /** What writes images to the hardware; empty if the board cannot be flashed. */
    public Optional<Flashing> flashing() {
        return hardware.flashing();
    }

    /** The target with the parts of other code generators before it. */
    public String compositeTarget() {
        return Stream.concat(building.codegens().stream(), Stream.of(target)).collect(Collectors.joining(", "));
    }

    /** The same board with further linker flags. */
    public Board linkedWith(List<String> more) {
        return new Board(identity, target, memoryMap, support, hardware, building.linkedWith(more));
    }

    /**
     * The same board with further compiler flags.
     *
     * @throws io.kiln.base.KilnException naming each flag that no profile may have either
     */
    public Board compiledWith(List<String> more) {
        return new Board(identity, target, memoryMap, support, hardware, building.compiledWith(more, id()));
    }

    /** The same board for images that hold untrusted code. */
    public Board fenced() {
        return emulation() instanceof Emulation.Qemu qemu
                ? with(hardware.with(new Emulation.Qemu(qemu.program(), qemu.machine(), qemu.args(), true)))
                : this;
    }

    /** The same board with another target for the models' code. */
    public Board withTarget(String other) {
        return new Board(identity, other, memoryMap, support, hardware, building);
    }

    /** The same board whose console has another rate: the number that its C has from {@code board.yaml}. */
    public Board atBaud(int baud) {
        SortedMap<String, Bytes> files = new TreeMap<>(support.files());
        files.computeIfPresent(
                BoardParser.SETTINGS,
                (name, text) ->
                        Bytes.ofText(text.text().replaceFirst("(#define KILN_BAUD )[0-9]+u", "$1" + baud + "u")));
        return with(new BoardSupport(
                support.sources(),
                support.linker(),
                files,
                support.untrusted(),
                support.foreignFiles(),
                support.pack()));
    }

    public Board with(BoardSupport other) {
        return new Board(identity, target, memoryMap, other, hardware, building);
    }

    public Board with(BoardHardware other) {
        return new Board(identity, target, memoryMap, support, other, building);
    }

    /** How OpenOCD reaches the hardware, if it is what flashes the board. */
    public Optional<Flashing.OpenOcd> openOcd() {
        return hardware.openOcd();
    }

    /** The programs that flash the board beside or instead of OpenOCD. */
    public List<Flashing.Program> programs() {
        return hardware.programs();
    }

    /** The service in a dependency of the plugin, if one flashes the board. */
    public Optional<Flashing.Service> flashService() {
        return hardware.flashService();
    }

    /** The Project API server, if one flashes the board. */
    public Optional<Flashing.ProjectApi> projectApi() {
        return hardware.projectApi();
    }

    /** Whether any part of it is untrusted. */
    public boolean foreign() {
        return !untrusted().isEmpty();
    }

    /** How to trust all parts of the board; empty if the build does. */
    public String trustAdvice() {
        return foreign() ? trustAdvice(untrusted()) : "";
    }

    static String trustAdvice(List<String> coordinates) {
        return "If you trust who wrote it: <trustBoard>" + String.join(",", coordinates) + "</trustBoard>";
    }

    /** The profile's own scripts for OpenOCD, by path. */
    public SortedMap<String, Bytes> scripts() {
        return support.scripts();
    }

    /** Whether images of this board run on this computer, as plain executables. */
    public boolean isHost() {
        return emulation() instanceof Emulation.Native;
    }

    /** The memory of this name. */
    public Optional<Memory> memory(String name) {
        return memoryMap.memory(name);
    }

    /** The memory of code and constants; empty for the board {@code host}. */
    public Optional<Memory> constants() {
        return pools().flatMap(p -> memory(p.code()));
    }

    /**
     * How much a loop and what it calls may fill of the cache of code, in bytes, if they begin at one of its lines; elsewhere a line less.
     * Loops beyond that wait for each line in each turn. Empty if the profile has no such cache, or its flash has no wait states.
     */
    public OptionalInt loopBytes() {
        return codeCache().map(cache -> OptionalInt.of(cache.bytes())).orElse(OptionalInt.empty());
    }

    /** What the compiler is told about this cache: all of it, or the half where constants take the other one. */
    public OptionalInt loopBudget() {
        boolean isShared = constants()
                .flatMap(Memory::waits)
                .flatMap(MemoryWait::data)
                .filter(MemoryWait.DataCache.Shared.class::isInstance)
                .isPresent();
        return codeCache()
                .map(cache -> OptionalInt.of(isShared ? cache.bytes() / 2 : cache.bytes()))
                .orElse(OptionalInt.empty());
    }

    /** Bytes of a line of the cache of {@link #loopBytes}. */
    public OptionalInt loopLineBytes() {
        return codeCache().map(cache -> OptionalInt.of(cache.lineBytes())).orElse(OptionalInt.empty());
    }

    private Optional<MemoryWait.Cache> codeCache() {
        return constants().flatMap(Memory::waits).flatMap(MemoryWait::codeCache);
    }

    /** The linker script for images whose constants do not fit in the first memory. */
    public Optional<String> moreLinker() {
        return linker().filter(script -> moreConstants().isPresent())
                .map(LinkerMemories.LinkerVariant.MORE::of)
                .filter(script -> files().containsKey(script));
    }

    /** The second memory of constants, for those that do not fit in the first. */
    public Optional<Memory> moreConstants() {
        return pools().flatMap(PoolMemories::moreConstants).flatMap(this::memory);
    }

    /** First address of the parameters of graphs, if they have flash sectors of their own. */
    public OptionalLong parameters() {
        return pools().map(PoolMemories::parameters).orElse(OptionalLong.empty());
    }

    /** The linker script for images whose parameters lie there. */
    public Optional<String> parametersLinker() {
        return linker().filter(script -> parameters().isPresent()).map(LinkerMemories.LinkerVariant.PARAMETERS::of);
    }

    /** Where models lie that are replaced in the field. */
    public Optional<ModelSlots> slots() {
        return pools().flatMap(PoolMemories::slots);
    }

    /** The linker script for images whose models lie there. */
    public Optional<String> slotsLinker() {
        return linker().filter(script -> slots().isPresent()).map(LinkerMemories.LinkerVariant.SLOTS::of);
    }

    /** The memory of workspace, variables and stack; empty for the board {@code host}. */
    public Optional<Memory> workspace() {
        return pools().flatMap(p -> memory(p.variables()));
    }

    /** The value of an option of the target string, such as {@code mcpu}. */
    public Optional<String> targetOption(String key) {
        String prefix = "-" + key + "=";
        return Stream.of(target.split(" ", -1))
                .filter(word -> word.startsWith(prefix))
                .findFirst()
                .map(word -> word.substring(prefix.length()));
    }

    /**
     * A memory of the board.
     *
     * @param name unique within the board
     * @param kind what it can hold
     * @param base first address
     * @param size bytes, at least 1
     * @param timing how fast it is
     * @param wiring how it is connected
     */
    public record Memory(String name, Kind kind, long base, long size, Timing timing, Wiring wiring) {
        /** A memory of ordinary speed that every target reaches, and whose wait states are not known. */
        public Memory(String name, Kind kind, long base, long size) {
            this(name, kind, base, size, Timing.USUAL, Wiring.USUAL);
        }

        public Speed speed() {
            return timing.speed;
        }

        /** How long it makes the core wait, if the profile says it. */
        public Optional<MemoryWait> waits() {
            return timing.waits;
        }

        /** How long it would make the core wait if it were set up otherwise. */
        public List<AlternativeWait> alternatives() {
            return timing.alternatives;
        }

        /** How code is fetched from it, for RAM whose profile says it; code should not lie in other RAM. */
        public Optional<CodeFetch> fetch() {
            return wiring.fetch;
        }

        /** Name of the memory whose bytes have a second address here; empty if they are its own. */
        public Optional<String> mirrors() {
            return wiring.mirrors;
        }

        /** Keys of the targets that reach it: {@code host}, and names of code generators; empty if all do. */
        public List<String> targets() {
            return wiring.targets;
        }

        /** The address after the last byte. */
        public long end() {
            return base + size;
        }
    }

    /**
     * How fast a memory is.
     *
     * @param speed its relative speed
     * @param waits how long it makes the core wait, if the profile says it
     * @param alternatives how long it would make the core wait if it were set up otherwise
     */
    public record Timing(Speed speed, Optional<MemoryWait> waits, List<AlternativeWait> alternatives) {
        /** Ordinary speed; nothing is known of waits. */
        public static final Timing USUAL = new Timing(Speed.NORMAL, Optional.empty(), List.of());

        public Timing {
            alternatives = List.copyOf(alternatives);
        }
    }

    /**
     * How a memory is connected.
     *
     * @param fetch how code is fetched from it, for RAM whose profile says it
     * @param mirrors name of the memory whose bytes have a second address here; empty if they are its own
     * @param targets keys of the targets that reach it; empty if all do
     */
    public record Wiring(Optional<CodeFetch> fetch, Optional<String> mirrors, List<String> targets) {
        /** Code should not lie there, the bytes are its own, and all targets reach it. */
        public static final Wiring USUAL = new Wiring(Optional.empty(), Optional.empty(), List.of());

        public Wiring {
            targets = List.copyOf(targets);
        }
    }

    /**
     * Another setting of a memory.
     *
     * @param title one line for people
     * @param hertz the core's clock then; empty if it is the same
     * @param waits how long it makes the core wait then
     */
    public record AlternativeWait(String title, OptionalLong hertz, MemoryWait waits) {}

    /** How code that lies in RAM reaches the core. */
    public enum CodeFetch {
        /** By the bus of loads and stores, which take turns with it. */
        SYSTEM_BUS,
        /** By the bus of code, without waits. */
        CODE_BUS,
        /** From memory coupled tightly to the core, without waits. */
        TCM;

        /** As profiles write it. */
        public String key() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
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

    /**
     * How a board is reached, and what stands in for it.
     *
     * @param console the serial console of the image
     * @param timer what {@code TVMPlatformTimerStart} and {@code TVMPlatformTimerStop} count by; empty if the board has no timer
     * @param emulation what runs an image without the hardware
     * @param flashing what writes images to the hardware; empty if the board cannot be flashed
     * @param npu its Ethos-U, if it has one
     */
    public record BoardHardware(
            Optional<Console> console,
            Optional<BoardTimer> timer,
            Emulation emulation,
            Optional<Flashing> flashing,
            Optional<BoardNpu> npu) {
        public BoardHardware with(Emulation other) {
            return new BoardHardware(console, timer, other, flashing, npu);
        }

        /** How OpenOCD reaches it, if it is what flashes the board. */
        Optional<Flashing.OpenOcd> openOcd() {
            return flashing.flatMap(how -> how instanceof Flashing.Programs programs
                    ? programs.beside()
                    : Optional.of(how)
                            .filter(Flashing.OpenOcd.class::isInstance)
                            .map(Flashing.OpenOcd.class::cast));
        }

        /** The programs that flash it beside or instead of OpenOCD. */
        List<Flashing.Program> programs() {
            return flashing.filter(Flashing.Programs.class::isInstance)
                    .map(how -> ((Flashing.Programs) how).programs())
                    .orElse(List.of());
        }

        /** The Project API server, if one flashes the board. */
        Optional<Flashing.Service> flashService() {
            return flashing.filter(Flashing.Service.class::isInstance).map(Flashing.Service.class::cast);
        }

        Optional<Flashing.ProjectApi> projectApi() {
            return flashing.filter(Flashing.ProjectApi.class::isInstance).map(Flashing.ProjectApi.class::cast);
        }
    }

    /**
     * What a board is called, and where it comes from.
     *
     * @param id name of its folder, as in {@code kiln.board}
     * @param title one line for people
     * @param maker the vendor
     * @param origin path of its board.yaml
     */
    public record BoardIdentity(
            String id,
            String title,
            Maker maker,

            @NoInput(because = "where its profile lies on this computer")
            String origin) {
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
    }

    /**
     * The memories of a board.
     *
     * @param memories memories that an image may use; empty for the board {@code host}
     * @param pools which memory holds what; absent for the board {@code host}
     */
    public record BoardMemories(List<Memory> memories, Optional<PoolMemories> pools) {
        public BoardMemories {
            memories = List.copyOf(memories);
        }

        /** The memory of this name. */
        public Optional<Memory> memory(String name) {
            return memories.stream().filter(m -> m.name().equals(name)).findFirst();
        }
    }

    /**
     * The timer by which a board measures time.
     *
     * @param counter name of the peripheral, for people
     * @param hertz ticks of a second; one of them is the resolution of all times
     * @param countsCycles whether a tick is a cycle of the core
     */
    public record BoardTimer(String counter, long hertz, boolean countsCycles) {}
}
