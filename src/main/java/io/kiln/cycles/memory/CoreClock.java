// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.memory;

import io.kiln.cycles.core.CycleRange.Bound;
import io.kiln.cycles.memory.MemorySetting.RamCode;
import io.kiln.cycles.memory.MemorySetting.Region;
import java.util.Arrays;
import java.util.List;

/**
 * The time that a core takes for code in a memory that makes it wait. The core fetches words in order, one a cycle at most and up to three
 * ahead, from the cycle before a branch's end on; an instruction begins when the one before has been issued and its own last word is there.
 */
public final class CoreClock {
    /** The address of a load that is not known; it can be any constant at the high bound, and is not one otherwise. */
    public static final long UNKNOWN = -1;

    private static final int QUEUE = 3;
    private static final long EARLY = Long.MIN_VALUE;

    private static final MemoryBus FREE = new MemoryBus(new MemoryWait(0, 4, false), Bound.EXPECTED);

    private static final Place NOWHERE = new Place(0, 0, FREE, FREE);

    private final List<Place> places;
    private final long unknown;
    private final int wordBits;
    private final long[] used = new long[QUEUE + 1];
    private final long[] there = new long[QUEUE + 1];
    private long now = 1;
    private long fetched;
    private long consumed;
    private long end;
    private MemoryBus code = FREE;
    private long fetchStalls;
    private long dataStalls;

    /** A memory as code and as constants reach the core from it. */
    private record Place(long base, long end, MemoryBus fetch, MemoryBus load) {
        static Place of(Region region, MemorySetting setting) {
            MemoryBus bus = region.waits()
                    .map(wait -> new MemoryBus(wait, setting.bound()))
                    .orElse(FREE);
            MemoryBus code = setting.code().or(region::code).map(Place::ram).orElse(bus);
            return new Place(region.base(), region.end(), code, setting.constants() ? FREE : bus);
        }

        private static MemoryBus ram(RamCode code) {
            return code == RamCode.FAST ? FREE : new MemoryBus(new MemoryWait(1, 4, false), Bound.EXPECTED);
        }
    }

    /**
     * @param setting the board's memories
     * @param wordBytes what the core fetches at once
     */
    public CoreClock(MemorySetting setting, int wordBytes) {
        this.places = setting.regions().stream()
                .map(region -> Place.of(region, setting))
                .toList();
        boolean isHigh = setting.bound() == Bound.HIGH && !setting.constants();
        this.unknown = isHigh
                ? setting.regions().stream()
                        .flatMap(region -> region.waits().stream())
                        .mapToLong(MemoryWait::states)
                        .max()
                        .orElse(0)
                : 0;
        this.wordBits = Integer.numberOfTrailingZeros(wordBytes);
    }

    private Place place(long address) {
        for (Place place : places) {
            if (address >= place.base && address < place.end) {
                return place;
            }
        }
        return NOWHERE;
    }

    /** Cycles that instructions began late because they were not there. */
    public long fetchStalls() {
        return fetchStalls;
    }

    /** Cycles that loads waited for constants. */
    public long dataStalls() {
        return dataStalls;
    }

    /** Cycles from the first instruction on. */
    public long cycles() {
        return now - 1;
    }

    /**
     * Branches.
     *
     * @param cycles until the first instruction there begins
     * @param address of it
     */
    public void branch(long cycles, long address) {
        now += cycles;
        consumed = address >>> wordBits;
        fetched = consumed - 1;
        Arrays.fill(used, EARLY);
        there[slot(fetched)] = now - 1;
    }

    /**
     * Enters a block, of which all words will be needed.
     *
     * @param behind the address behind it
     */
    public void enter(long start, long behind) {
        end = behind;
        code = place(start).fetch;
    }

    /**
     * Begins an instruction.
     *
     * @return when
     */
    public long begin(long address, int bytes) {
        long last = (address + bytes - 1) >>> wordBits;
        while (fetched < last) {
            fetch();
        }
        long late = there[slot(last)] - now;
        if (late > 0) {
            fetchStalls += late;
            now += late;
        }
        long behind = (address + bytes) >>> wordBits;
        while (consumed < behind) {
            used[slot(consumed)] = now;
            consumed++;
        }
        return now;
    }

    /** Loads a constant in the instruction that has just begun. */
    public void load(long address, int bytes) {
        // What was asked for before comes before.
        while (fetched < (end - 1) >>> wordBits && fetched - consumed < QUEUE - 1 && asked() < now) {
            fetch();
        }
        if (address == UNKNOWN) {
            dataStalls += unknown;
            now += unknown;
            return;
        }
        long ready = place(address).load.load(address, bytes, now);
        dataStalls += ready - now;
        now = ready;
    }

    /** Issues the instruction that has begun. */
    public void issue(long cycles) {
        now += cycles;
    }

    /** When the next word is asked for. */
    private long asked() {
        return Math.max(there[slot(fetched)], used[slot(fetched + 1 - QUEUE)]);
    }

    private void fetch() {
        long at = asked();
        fetched++;
        there[slot(fetched)] = code.fetch(fetched << wordBits, at) + 1;
    }

    private static int slot(long word) {
        return (int) (word & QUEUE);
    }
}
