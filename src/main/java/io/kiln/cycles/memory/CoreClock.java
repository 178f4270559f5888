// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.memory;

import java.util.Arrays;

/**
 * The time that a core takes for code in a memory that makes it wait. The core fetches words in order, one a cycle at most and up to three
 * ahead, from the cycle before a branch's end on; an instruction begins when the one before has been issued and its own last word is there.
 */
final class CoreClock {
    private static final int QUEUE = 3;
    private static final long EARLY = Long.MIN_VALUE;

    private final MemoryBus memory;
    private final int wordBits;
    private final long[] used = new long[QUEUE + 1];
    private final long[] there = new long[QUEUE + 1];
    private long now = 1;
    private long fetched;
    private long consumed;
    private long end;
    private long fetchStalls;
    private long dataStalls;

    /**
     * @param memory what holds code and constants
     * @param wordBytes what the core fetches at once
     */
    CoreClock(MemoryBus memory, int wordBytes) {
        this.memory = memory;
        this.wordBits = Integer.numberOfTrailingZeros(wordBytes);
    }

    /** Cycles that instructions began late because they were not there. */
    long fetchStalls() {
        return fetchStalls;
    }

    /** Cycles that loads waited for constants. */
    long dataStalls() {
        return dataStalls;
    }

    /** Cycles from the first instruction on. */
    long cycles() {
        return now - 1;
    }

    /**
     * Branches.
     *
     * @param cycles until the first instruction there begins
     * @param address of it
     */
    void branch(long cycles, long address) {
        now += cycles;
        consumed = address >>> wordBits;
        fetched = consumed - 1;
        Arrays.fill(used, EARLY);
        there[place(fetched)] = now - 1;
    }

    /** Enters a block: words up to an address will be needed for certain. */
    void enter(long endOfBlock) {
        end = endOfBlock;
    }

    /**
     * Begins an instruction.
     *
     * @return when
     */
    long begin(long address, int bytes) {
        long last = (address + bytes - 1) >>> wordBits;
        while (fetched < last) {
            fetch();
        }
        long late = there[place(last)] - now;
        if (late > 0) {
            fetchStalls += late;
            now += late;
        }
        long behind = (address + bytes) >>> wordBits;
        while (consumed < behind) {
            used[place(consumed)] = now;
            consumed++;
        }
        return now;
    }

    /** Loads a constant in the instruction that has just begun. */
    void load(long address, int bytes) {
        // What was asked for before comes before.
        while (fetched < (end - 1) >>> wordBits && fetched - consumed < QUEUE - 1 && asked() < now) {
            fetch();
        }
        long ready = memory.load(address, bytes, now);
        dataStalls += ready - now;
        now = ready;
    }

    /** Issues the instruction that has begun. */
    void issue(long cycles) {
        now += cycles;
    }

    /** When the next word is asked for. */
    private long asked() {
        return Math.max(there[place(fetched)], used[place(fetched + 1 - QUEUE)]);
    }

    private void fetch() {
        long at = asked();
        fetched++;
        there[place(fetched)] = memory.fetch(fetched << wordBits, at) + 1;
    }

    private static int place(long word) {
        return (int) (word & QUEUE);
    }
}
