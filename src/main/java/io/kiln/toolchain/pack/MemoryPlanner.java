// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.toolchain.pack.Device.DeviceMemory;
import io.kiln.toolchain.pack.Device.Use;
import io.kiln.toolchain.pack.MemoryPlan.Region;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Decides what lies in which memory of a device. */
final class MemoryPlanner {
    /** Most memories of a board profile, and most of one pool. */
    private static final int MOST_MEMORIES = 16;

    private static final int MOST_POOL = 8;
    private static final int MOST_NAME = 24;
    private static final long SRAM = 0x20000000L;
    private static final long EXTERNAL = 0x60000000L;

    /** Where the core-coupled memory of many Cortex-M4 devices lies, which DMA does not reach. */
    private static final long CORE_COUPLED = 0x10000000L;

    /** Where memory for code ends that is coupled tightly to the core. */
    private static final long CODE_COUPLED = 0x01000000L;

    /** How far a guard of the stack can reach: startup.c of the Cortex-M boards. */
    private static final long BELOW = 0x1000000L;

    private final CoreTarget core;
    private final long offset;
    private final List<DeviceMemory> roms;
    private final List<DeviceMemory> rams;
    private final List<String> questions;
    private final Map<DeviceMemory, String> names = new LinkedHashMap<>();

    /**
     * @param pname name of the core in the pack
     * @param offset bytes at the beginning of the code's memory that a boot loader takes
     */
    MemoryPlanner(Device device, String pname, CoreTarget core, long offset) {
        MemoryChoice choice = new MemoryChoice(device, pname);
        this.core = core;
        this.offset = offset;
        this.roms = choice.roms();
        this.rams = choice.rams();
        this.questions = new ArrayList<>(choice.questions());
    }

    MemoryPlan plan() {
        DeviceMemory code = roms.stream()
                .min(Comparator.<DeviceMemory, Boolean>comparing(rom -> !rom.isStartup())
                        .thenComparing(rom -> rom.start() >= EXTERNAL)
                        .thenComparing(rom -> !rom.isDefault())
                        .thenComparing(DeviceMemory::start))
                .orElseThrow();
        if (offset >= code.size()) {
            throw Failure.BOARD.exception(
                    "the offset " + offset + " leaves nothing of " + MemoryChoice.text(code),
                    "device.offset",
                    "a number below the memory's size");
        }
        List<DeviceMemory> constants = new ArrayList<>(List.of(code));
        roms.stream()
                .filter(rom -> !rom.equals(code))
                .sorted(Comparator.comparing((DeviceMemory rom) -> rom.start() >= EXTERNAL)
                        .thenComparing(
                                Comparator.comparingLong(DeviceMemory::size).reversed()))
                .forEach(rom -> addConstants(rom, constants));
        DeviceMemory data = rams.stream().min(forVariables()).orElseThrow();
        List<DeviceMemory> workspace = rams.stream()
                .filter(ram -> !ram.equals(data) && isWorkspace(ram))
                .sorted(Comparator.comparing((DeviceMemory ram) -> !isFast(ram)).thenComparing(forVariables()))
                .limit(MOST_POOL - 1L)
                .toList();
        List<DeviceMemory> all = Stream.of(constants.stream(), Stream.of(data), workspace.stream(), rams.stream())
                .flatMap(each -> each)
                .distinct()
                .limit(MOST_MEMORIES)
                .sorted(Comparator.comparing((DeviceMemory each) -> each.allows('w'))
                        .thenComparing(DeviceMemory::start))
                .toList();
        all.forEach(memory -> names.put(memory, name(memory)));
        List<Region> regions =
                all.stream().map(memory -> region(memory, code, data)).toList();
        return new MemoryPlan(
                regions,
                names.get(code),
                Stream.concat(workspace.stream(), Stream.of(data))
                        .map(names::get)
                        .toList(),
                constants.stream().limit(MOST_POOL).map(names::get).toList(),
                isNothingBelow(data),
                questions);
    }

    private void addConstants(DeviceMemory rom, List<DeviceMemory> constants) {
        if (rom.isDefault()) {
            constants.add(rom);
        } else {
            questions.add(MemoryChoice.text(rom)
                    + " needs to be set up before use, and was left out. If your start-up code does so, add it to"
                    + " memories and to pools.constants");
        }
    }

    /** Variables and stack lie in the largest memory that everything reaches. */
    private Comparator<DeviceMemory> forVariables() {
        return Comparator.<DeviceMemory, Boolean>comparing(MemoryChoice::isBackup)
                .thenComparing(ram -> ram.start() >= EXTERNAL)
                .thenComparing(ram -> !ram.isDefault())
                .thenComparing(this::isFast)
                .thenComparing(ram -> ram.start() < SRAM)
                .thenComparing(Comparator.comparingLong(DeviceMemory::size).reversed())
                .thenComparing(DeviceMemory::start);
    }

    private boolean isWorkspace(DeviceMemory ram) {
        boolean isUsable = ram.isDefault() || (isFast(ram) && ram.start() >= CORE_COUPLED);
        if (!isUsable) {
            questions.add(MemoryChoice.text(ram)
                    + " is not for every program, says the pack: it is in memories, but in no pool. It may"
                    + " need a clock");
        }
        return isUsable && !MemoryChoice.isBackup(ram);
    }

    /** Memory beside the core: that of code at the lowest addresses, the core-coupled one, and on cores that have it that of data. */
    private boolean isFast(DeviceMemory ram) {
        boolean isOfData = core.hasTightlyCoupled()
                && ram.start() == SRAM
                && rams.stream()
                        .anyMatch(
                                other -> other.size() > ram.size() && other.start() > SRAM && other.start() < EXTERNAL);
        boolean isOthers = ram.start() < SRAM
                && rams.stream().anyMatch(other -> other.start() >= SRAM && other.start() < EXTERNAL);
        return isOfData || (isOthers && (ram.start() < CODE_COUPLED || ram.start() == CORE_COUPLED));
    }

    private Region region(DeviceMemory memory, DeviceMemory code, DeviceMemory data) {
        boolean isRom = !memory.allows('w');
        long from = memory.equals(code) ? offset : 0;
        String speed = Region.NORMAL;
        if (memory.start() >= EXTERNAL) {
            speed = Region.SLOW;
        } else if (!isRom && !memory.equals(data)) {
            // What lies behind other bridges comes last: it may need a clock that start-up code does not switch on.
            speed = isFast(memory) ? Region.FAST : Region.SLOW;
        }
        boolean isFetched = !isRom
                && memory.allows('x')
                && memory.start() >= SRAM
                && memory.start() < EXTERNAL
                && core.fetchesOverSystemBus();
        return new Region(names.get(memory), isRom, memory.start() + from, memory.size() - from, speed, isFetched);
    }

    /** The name as profiles and C can have it. */
    private String name(DeviceMemory memory) {
        String plain = memory.name().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_]", "_");
        String named = plain.matches("[a-z].*") ? plain : "m" + plain;
        String base = named.substring(0, Math.min(MOST_NAME, named.length()));
        String name = base;
        for (int i = 2; names.containsValue(name); i++) {
            name = base + "_" + i;
        }
        return name;
    }

    private boolean isNothingBelow(DeviceMemory data) {
        return data.start() % BELOW == 0
                && data.start() >= BELOW
                && Stream.concat(roms.stream(), rams.stream())
                        .noneMatch(other -> other.start() < data.start() && other.end() > data.start() - BELOW);
    }

    /**
     * Which memories of a device one of its cores uses: packs list peripherals, second views of the same cells, and the memories of other cores
     * beside them.
     */
    private static final class MemoryChoice {
        private static final long ADDRESS_SPACE = 1L << 32;

        /** Armv7-M Architecture Reference Manual, B3.1: code and SRAM, then peripherals, then external RAM, then devices. */
        private static final long PERIPHERALS = 0x40000000L;

        private static final long EXTERNAL = 0x60000000L;
        private static final long DEVICES = 0xa0000000L;

        /** Smaller ones hold option bytes, or are buffers of peripherals. */
        private static final long LEAST = 1024;

        private final Device device;
        private final String core;
        private final List<String> questions = new ArrayList<>();

        MemoryChoice(Device device, String core) {
            this.device = device;
            this.core = core;
        }

        /** What was left out for a reason that its user may know better. */
        List<String> questions() {
            return List.copyOf(questions);
        }

        /**
         * Memories with code, by address; neighbours are one.
         *
         * @throws KilnException if there are none, or if memories of the device overlap
         */
        List<DeviceMemory> roms() {
            List<DeviceMemory> roms = joined(usable().stream()
                    .filter(memory -> !memory.allows('w') && memory.allows('x'))
                    .toList());
            if (roms.isEmpty()) {
                throw refused(
                        "the pack lists no memory of " + device.name() + " that keeps code: it can only be written",
                        "Describe the external flash, or the RAM that a boot loader fills, in a board.yaml of your"
                                + " own");
            }
            return roms;
        }

        /**
         * Memories that can be written, by address; neighbours are one.
         *
         * @throws KilnException likewise
         */
        List<DeviceMemory> rams() {
            List<DeviceMemory> writable =
                    usable().stream().filter(memory -> memory.allows('w')).toList();
            List<DeviceMemory> rams =
                    writable.stream().filter(MemoryChoice::isWhereRamIs).toList();
            writable.stream()
                    .filter(memory -> !rams.contains(memory) && !isBackup(memory))
                    .forEach(memory -> questions.add(text(memory)
                            + " lies where peripherals do, and was left out. If it is RAM like any other,"
                            + " add it to memories"));
            List<DeviceMemory> joined = joined(rams);
            if (joined.isEmpty()) {
                throw refused(
                        "the pack lists no RAM of " + device.name() + " in the address ranges of RAM",
                        "Describe it in a board.yaml of your own");
            }
            return joined;
        }

        static boolean isWhereRamIs(DeviceMemory memory) {
            return memory.end() <= PERIPHERALS || (memory.start() >= EXTERNAL && memory.end() <= DEVICES);
        }

        /** Whether a name is that of memory which a battery keeps. */
        static boolean isBackup(DeviceMemory memory) {
            String name = memory.name().toUpperCase(Locale.ROOT);
            return name.contains("BKP") || name.contains("BACKUP") || name.contains("RETENTION");
        }

        /** The memories of the core that are no peripherals, each cell once. */
        private List<DeviceMemory> usable() {
            List<DeviceMemory> mine = device.memories().stream()
                    .filter(memory ->
                            Device.isFor(memory.core(), core) && !memory.allows('p') && memory.size() >= LEAST)
                    .filter(memory -> memory.allows('w') || memory.allows('x'))
                    .toList();
            checkPlaces(mine);
            List<DeviceMemory> whole = mine.stream()
                    .filter(memory -> mine.stream().noneMatch(other -> isForeground(other, memory)))
                    .toList();
            List<DeviceMemory> once = withoutViews(whole).stream()
                    .filter(memory -> whole.stream().noneMatch(other -> isViewOfFlash(memory, other)))
                    .toList();
            checkOverlaps(once);
            return once;
        }

        /** Whether a memory of the core alone stands for one of all cores. */
        private static boolean isForeground(DeviceMemory own, DeviceMemory common) {
            return !own.core().isEmpty() && common.core().isEmpty() && overlap(own, common);
        }

        /** Some packs list the flash a second time, where an interface of tightly coupled memory shows it, and do not say so. */
        private static boolean isViewOfFlash(DeviceMemory memory, DeviceMemory other) {
            return memory.name().toUpperCase(Locale.ROOT).contains("ITCM")
                    && !memory.allows('w')
                    && !other.allows('w')
                    && !other.equals(memory)
                    && other.size() == memory.size()
                    && other.isStartup();
        }

        private static boolean overlap(DeviceMemory one, DeviceMemory other) {
            return one.start() < other.end() && other.start() < one.end();
        }

        private static void checkPlaces(List<DeviceMemory> memories) {
            Problems problems = new Problems(Failure.BOARD);
            for (DeviceMemory memory : memories) {
                if (memory.start() >= ADDRESS_SPACE || memory.size() > ADDRESS_SPACE - memory.start()) {
                    problems.add(
                            "the memory " + text(memory) + " ends beyond the last address",
                            memory.where(),
                            "start + size of at most 0x100000000");
                }
            }
            problems.throwIfAny();
        }

        private static void checkOverlaps(List<DeviceMemory> memories) {
            Problems problems = new Problems(Failure.BOARD);
            for (int i = 0; i < memories.size(); i++) {
                for (DeviceMemory other : memories.subList(0, i)) {
                    DeviceMemory memory = memories.get(i);
                    if (overlap(memory, other)) {
                        problems.add(
                                "the memory " + text(memory) + " overlaps " + text(other),
                                memory.where(),
                                "memories that do not overlap, unless one is the alias of the other");
                    }
                }
            }
            problems.throwIfAny();
        }

        /** Of several views of the same cells, the best one. */
        private List<DeviceMemory> withoutViews(List<DeviceMemory> memories) {
            Optional<Character> security = memories.stream()
                    .filter(memory -> memory.isStartup() && memory.allows('x'))
                    .findFirst()
                    .flatMap(MemoryChoice::security);
            Comparator<DeviceMemory> best = Comparator.<DeviceMemory>comparingInt(
                            memory -> isWhereRamIs(memory) ? 0 : 1)
                    .thenComparing(
                            memory -> security.isPresent() && !security(memory).equals(security))
                    .thenComparing(memory -> !memory.isStartup())
                    .thenComparing(memory -> !memory.alias().isEmpty())
                    .thenComparing(memory -> !memory.isDefault())
                    .thenComparing(DeviceMemory::start);
            Set<DeviceMemory> left = new LinkedHashSet<>(memories);
            List<DeviceMemory> kept = new ArrayList<>();
            for (DeviceMemory memory : memories) {
                if (left.contains(memory)) {
                    List<DeviceMemory> views = views(memory, memories);
                    left.removeAll(views);
                    views.stream().min(best).ifPresent(kept::add);
                }
            }
            return kept.stream()
                    .sorted(Comparator.comparingLong(DeviceMemory::start))
                    .toList();
        }

        private static Optional<Character> security(DeviceMemory memory) {
            return Stream.of('s', 'n').filter(memory::allows).findFirst();
        }

        /** A memory and those that have the same cells by name, in whichever direction and however often the names lead in circles. */
        private static List<DeviceMemory> views(DeviceMemory of, List<DeviceMemory> memories) {
            List<DeviceMemory> views = new ArrayList<>(List.of(of));
            for (int i = 0; i < views.size(); i++) {
                DeviceMemory view = views.get(i);
                memories.stream()
                        .filter(other -> !views.contains(other)
                                && (view.alias().equals(other.name())
                                        || other.alias().equals(view.name())))
                        .toList()
                        .forEach(views::add);
            }
            return views;
        }

        /** Neighbours of one use are one memory; a gap, another core or another default parts them. */
        private static List<DeviceMemory> joined(List<DeviceMemory> memories) {
            List<DeviceMemory> joined = new ArrayList<>();
            for (DeviceMemory memory : memories) {
                DeviceMemory before = joined.isEmpty() ? memory : joined.get(joined.size() - 1);
                boolean isNext = before.end() == memory.start()
                        && before.core().equals(memory.core())
                        && before.isDefault() == memory.isDefault()
                        && isBackup(before) == isBackup(memory)
                        && security(before).equals(security(memory));
                if (isNext) {
                    joined.set(
                            joined.size() - 1,
                            new DeviceMemory(
                                    commonName(before.name(), memory.name()),
                                    before.core(),
                                    before.start(),
                                    before.size() + memory.size(),
                                    new Use(
                                            before.use().access(),
                                            before.isDefault(),
                                            before.isStartup() || memory.isStartup()),
                                    "",
                                    before.where()));
                } else {
                    joined.add(memory);
                }
            }
            return joined;
        }

        private static String commonName(String one, String other) {
            int length = 0;
            while (length < Math.min(one.length(), other.length()) && one.charAt(length) == other.charAt(length)) {
                length++;
            }
            String common = one.substring(0, length).replaceAll("(?i)[_-]*(bank)?[_-]*[0-9]*$", "");
            return common.length() < 2 ? one : common;
        }

        static String text(DeviceMemory memory) {
            return String.format(
                    Locale.ROOT, "%s (0x%08x, %s)", memory.name(), memory.start(), BoardText.size(memory.size()));
        }

        private static KilnException refused(String what, String next) {
            return Failure.BOARD.exception(what, "kiln.device", "", next);
        }
    }
}
