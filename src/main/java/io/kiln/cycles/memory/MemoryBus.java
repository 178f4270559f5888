// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.memory;

import io.kiln.cycles.core.CycleRange;
import io.kiln.cycles.core.CycleRange.Bound;
import io.kiln.cycles.memory.MemoryWait.Cache;
import io.kiln.cycles.memory.MemoryWait.DataCache;
import java.util.Arrays;
import java.util.Optional;

/**
 * A memory with its caches while code runs: when a line that is asked for is there. It follows the rules of the flash interface of the
 * STM32G4 (RM0440, 3.3.4): the last line of code and the last one of constants stay readable, hits cost nothing, a miss waits for a read,
 * and while the core uses a line the next one is read. Where the profile says what a miss costs, there is nothing but the caches.
 *
 * <p>The bounds: at the low one a constant that misses waits a cycle less; at the high one there is no cache of constants but the last
 * line, and nothing is prefetched.
 */
final class MemoryBus {
    private static final int WORD = 4;
    private static final long NONE = -1;

    private final MemoryWait wait;
    private final boolean keepsLine;
    private final boolean prefetch;
    private final int fetchBits;
    private final int dataBits;
    private final long fetchCycles;
    private final long dataCycles;
    private final Optional<CacheLines> code;
    private final Optional<CacheLines> constants;
    private long codeLine = NONE;
    private long dataLine = NONE;
    private long prefetched = NONE;
    private long prefetchedAt;
    private long free;
    private long fetchMisses;
    private long dataMisses;

    MemoryBus(MemoryWait wait, Bound bound) {
        this.wait = wait;
        this.keepsLine = wait.missCycles().isEmpty();
        boolean helps = keepsLine && bound == Bound.HIGH;
        this.prefetch = keepsLine && wait.prefetch() && wait.states() > 0 && !helps;
        this.code = wait.fetch().map(CacheLines::new);
        Optional<Cache> own =
                wait.data().filter(DataCache.Own.class::isInstance).map(data -> ((DataCache.Own) data).cache());
        boolean isShared =
                wait.data().filter(DataCache.Shared.class::isInstance).isPresent();
        this.constants = helps ? Optional.empty() : isShared ? code : own.map(CacheLines::new);
        this.fetchBits = bits(wait.fetch().map(Cache::sectorBytes).orElse(wait.lineBytes()));
        int dataBytes = isShared
                ? wait.fetch().orElseThrow().sectorBytes()
                : own.map(Cache::sectorBytes).orElse(Math.min(WORD, wait.lineBytes()));
        this.dataBits = bits(dataBytes);
        CycleRange miss = wait.missCycles().orElse(CycleRange.exactly(wait.states()));
        this.fetchCycles = miss.at(bound);
        this.dataCycles =
                wait.data().isPresent() ? dataMiss(miss, bound) : wait.states() + (bound == Bound.HIGH ? 1 : 0);
    }

    private long dataMiss(CycleRange miss, Bound bound) {
        return keepsLine && bound == Bound.LOW ? Math.max(0, miss.low() - 1) : miss.at(bound);
    }

    private static int bits(int bytes) {
        return Integer.numberOfTrailingZeros(bytes);
    }

    /** Bytes of the lines that fetches ask for. */
    int fetchBytes() {
        return 1 << fetchBits;
    }

    /** Lines of code that were read. */
    long fetchMisses() {
        return fetchMisses;
    }

    /** Lines of constants that were read. */
    long dataMisses() {
        return dataMisses;
    }

    /**
     * Fetches the line of an address.
     *
     * @param at when it is asked for
     * @return when it is there
     */
    long fetch(long address, long at) {
        long line = address >>> fetchBits;
        if (keepsLine && line == codeLine) {
            return at;
        }
        long ready = at;
        if (code.isEmpty() || !code.get().uses(line)) {
            if (prefetch && line == prefetched) {
                ready = Math.max(at, prefetchedAt);
            } else {
                ready = read(at, fetchCycles);
                fetchMisses++;
            }
            code.ifPresent(lines -> lines.fill(line));
        }
        codeLine = line;
        if (prefetch
                && line + 1 != prefetched
                && code.filter(lines -> lines.has(line + 1)).isEmpty()) {
            prefetched = line + 1;
            prefetchedAt = read(Math.max(ready, free), fetchCycles);
        }
        return ready;
    }

    /**
     * Reads a constant.
     *
     * @param at when it is asked for
     * @return when all of it is there
     */
    long load(long address, int bytes, long at) {
        long last = (address + bytes - 1) >>> dataBits;
        long ready = at;
        for (long line = address >>> dataBits; line <= last; line++) {
            if (wait.data().isEmpty()) {
                ready = missed(ready);
            } else if (!(keepsLine && line == dataLine)) {
                long now = line;
                if (constants.isEmpty() || !constants.get().uses(line)) {
                    ready = missed(ready);
                    constants.ifPresent(lines -> lines.fill(now));
                }
                dataLine = line;
            }
        }
        return ready;
    }

    private long missed(long at) {
        dataMisses++;
        return read(at, dataCycles);
    }

    private long read(long at, long cycles) {
        if (cycles == 0) {
            return at;
        }
        long ready = Math.max(at, free) + cycles;
        free = ready + (keepsLine ? 1 : 0);
        return ready;
    }

    /** What a cache holds: lines in sectors, of which the line not used for longest makes room. Sectors are named by their number in memory. */
    private static final class CacheLines {
        private static final long NONE = -1;

        private final int ways;
        private final long setMask;
        private final int sectorBits;
        private final long[] tags;
        private final long[] sectors;
        private final long[] used;
        private long clock;

        CacheLines(Cache cache) {
            this.ways = cache.ways() == 0 ? cache.lines() : cache.ways();
            this.setMask = cache.sets() - 1L;
            this.sectorBits = Integer.numberOfTrailingZeros(cache.lineBytes() / cache.sectorBytes());
            this.tags = new long[cache.lines()];
            this.sectors = new long[cache.lines()];
            this.used = new long[cache.lines()];
            Arrays.fill(tags, NONE);
        }

        /** Whether a sector is there; if so, its line is the last one used. */
        boolean uses(long sector) {
            int place = place(sector);
            if (place < 0 || (sectors[place] & bit(sector)) == 0) {
                return false;
            }
            used[place] = ++clock;
            return true;
        }

        boolean has(long sector) {
            int place = place(sector);
            return place >= 0 && (sectors[place] & bit(sector)) != 0;
        }

        /** Takes a sector in; its line is the last one used. */
        void fill(long sector) {
            int place = place(sector);
            if (place < 0) {
                place = oldest(sector);
                tags[place] = sector >>> sectorBits;
                sectors[place] = 0;
            }
            sectors[place] |= bit(sector);
            used[place] = ++clock;
        }

        private int place(long sector) {
            long tag = sector >>> sectorBits;
            int first = first(tag);
            for (int i = first; i < first + ways; i++) {
                if (tags[i] == tag) {
                    return i;
                }
            }
            return -1;
        }

        private int oldest(long sector) {
            int first = first(sector >>> sectorBits);
            int oldest = first;
            for (int i = first; i < first + ways; i++) {
                if (used[i] < used[oldest]) {
                    oldest = i;
                }
            }
            return oldest;
        }

        private int first(long tag) {
            return (int) (tag & setMask) * ways;
        }

        private long bit(long sector) {
            return 1L << (sector & ((1L << sectorBits) - 1));
        }
    }
}
