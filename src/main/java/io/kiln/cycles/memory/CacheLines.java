// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.memory;

import io.kiln.cycles.memory.MemoryWait.Cache;
import java.util.Arrays;

/** What a cache holds: lines in sectors, of which the line not used for longest makes room. Sectors are named by their number in memory. */
final class CacheLines {
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

    /** Whether a sector is there. */
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
