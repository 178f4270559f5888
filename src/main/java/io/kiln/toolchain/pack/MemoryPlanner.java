// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Failure;
import io.kiln.toolchain.pack.Device.DeviceMemory;
import io.kiln.toolchain.pack.MemoryPlan.Region;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
}
