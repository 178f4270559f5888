// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.cycles.core.CycleRange;
import io.kiln.cycles.core.CycleRange.Bound;
import io.kiln.cycles.memory.MemorySetting.Region;
import io.kiln.cycles.memory.MemoryWait.Cache;
import io.kiln.cycles.memory.MemoryWait.DataCache;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Caches against traces whose misses were counted by an independent program, and a loop whose cycles were. */
final class MemoryBusTest {
    private static final CycleRange MISS = CycleRange.exactly(10);

    static final Map<String, MemoryWait> WAITS = Map.of(
            "l4-dual", art(8, new Cache(32, 32, 0, 8), new Cache(8, 32, 0, 8)),
            "l4-single", art(16, new Cache(32, 32, 0, 16), new Cache(8, 32, 0, 16)),
            "f4", art(16, new Cache(64, 16, 0, 16), new Cache(8, 16, 0, 16)),
            "u575", shared(new Cache(512, 16, 2, 16)),
            "rp2040", shared(new Cache(2048, 8, 2, 8)),
            "m7-16k", level1(512),
            "m7-4k", level1(128),
            "fe310",
                    new MemoryWait(
                            240,
                            4,
                            false,
                            Optional.of(new Cache(512, 32, 2, 32)),
                            Optional.empty(),
                            Optional.of(MISS)));

    private static MemoryWait art(int lineBytes, Cache fetch, Cache data) {
        return new MemoryWait(
                5, lineBytes, false, Optional.of(fetch), Optional.of(new DataCache.Own(data)), Optional.empty());
    }

    private static MemoryWait shared(Cache cache) {
        return new MemoryWait(
                4,
                cache.lineBytes(),
                false,
                Optional.of(cache),
                Optional.of(new DataCache.Shared()),
                Optional.of(MISS));
    }

    private static MemoryWait level1(int lines) {
        return new MemoryWait(
                5,
                32,
                false,
                Optional.of(new Cache(lines, 32, 2, 32)),
                Optional.of(new DataCache.Own(new Cache(lines, 32, 4, 32))),
                Optional.of(MISS));
    }

    /** What is read in a trace, in order. */
    private static String misses(String trace, String cache) throws IOException {
        MemoryBus bus = new MemoryBus(WAITS.get(cache), Bound.EXPECTED);
        for (String line : Files.readAllLines(SharedFolder.need("silicon").resolve("traces/" + trace + ".txt"))) {
            String[] words = line.split(" ", -1);
            long address = Long.parseLong(words[1], 16);
            int bytes = Integer.parseInt(words[2]);
            if (words[0].equals("D")) {
                // A load of this core is a word at most, and reads the flash once.
                bus.load(address, cache.equals("fe310") ? Math.min(bytes, 4) : bytes, 0);
            } else {
                for (long at = address & -bus.fetchBytes(); at < address + bytes; at += bus.fetchBytes()) {
                    bus.fetch(at, 0);
                }
            }
        }
        return bus.fetchMisses() + "," + bus.dataMisses();
    }

    @Test
    @NeedsShared("silicon")
    void missesAreThoseOfTheFixtures() throws IOException {
        List<String> rows = Files.readAllLines(SharedFolder.need("silicon").resolve("misses.csv"));
        List<String> expected = rows.subList(1, rows.size());
        List<String> actual = new ArrayList<>();
        for (String row : expected) {
            String[] columns = row.split(",", -1);
            actual.add(columns[0] + "," + columns[1] + "," + misses(columns[0], columns[1]));
        }
        assertThat(actual).hasSize(88).containsExactlyElementsOf(expected);
    }

    private static CoreClock clock(MemoryWait wait) {
        Region flash = new Region(0x08000000, 0x08100000, Optional.of(wait), Optional.empty());
        return new CoreClock(new MemorySetting(List.of(flash), Bound.EXPECTED), 4);
    }

    /**
     * A loop of bodies of 14 instructions of 32 bits: two loads of weights, four from RAM and eight multiply-accumulates, and a
     * subtraction of 16 bits with a branch of 32 behind them. 1,000 turns; cycles of a body.
     */
    private static double loop(MemoryWait wait, int bodies, boolean weights) {
        CoreClock clock = clock(wait);
        long start = 0x08004000;
        long weight = 0x08020000;
        long end = start + bodies * 56L + 6;
        for (int turn = 0; turn < 1000; turn++) {
            clock.branch(turn == 0 ? 0 : 2, start);
            clock.enter(start, end);
            long address = start;
            for (int body = 0; body < bodies; body++) {
                for (int i = 0; i < 14; i++) {
                    clock.begin(address, 4);
                    if (weights && i < 2) {
                        clock.load(weight, 4);
                        weight += 4;
                    }
                    clock.issue(i == 0 ? 2 : 1);
                    address += 4;
                }
            }
            clock.begin(address, 2);
            clock.issue(1);
            clock.begin(address + 2, 4);
            clock.issue(1);
        }
        return (clock.cycles() + 2) / (1000.0 * bodies);
    }

    @Test
    void aLoopCostsWhatItWasCountedToCost() {
        int[] bodies = {10, 18, 19, 42};
        Map<String, double[]> expected = Map.of(
                "zero", new double[] {15.40, 15.22, 15.21, 15.10},
                "8", new double[] {15.44, 15.31, 49.57, 49.21},
                "8 prefetch", new double[] {15.43, 15.29, 42.72, 42.29},
                "16", new double[] {15.42, 15.27, 31.91, 31.71},
                "16 prefetch", new double[] {15.41, 15.25, 21.52, 21.29},
                "8 weights", new double[] {20.44, 20.31, 54.58, 54.21},
                "8 prefetch weights", new double[] {20.43, 20.30, 48.73, 48.29},
                "16 weights", new double[] {17.92, 17.77, 34.15, 33.71},
                "16 prefetch weights", new double[] {17.91, 17.75, 24.79, 24.79});
        List<String> wrong = new ArrayList<>();
        expected.forEach((name, cycles) -> {
            MemoryWait wait = WAITS.get(name.startsWith("8") ? "l4-dual" : "l4-single");
            MemoryWait set = new MemoryWait(
                    name.equals("zero") ? 0 : 5,
                    wait.lineBytes(),
                    name.contains("prefetch"),
                    wait.fetch(),
                    wait.data(),
                    wait.missCycles());
            for (int i = 0; i < bodies.length; i++) {
                double actual = loop(set, bodies[i], name.contains("weights"));
                if (Math.abs(actual / cycles[i] - 1) > 0.005) {
                    wrong.add(name + " " + bodies[i] + ": " + actual + " for " + cycles[i]);
                }
            }
        });
        assertThat(wrong).isEmpty();
    }

    @Test
    void withoutWaitStatesNothingWaits() {
        Stream.of("l4-dual", "f4").map(WAITS::get).forEach(wait -> {
            MemoryWait none = new MemoryWait(0, wait.lineBytes(), true, wait.fetch(), wait.data(), wait.missCycles());
            CoreClock clock = clock(none);
            clock.branch(0, 0x08000000);
            clock.enter(0x08000000, 0x08000000 + 4000);
            for (int i = 0; i < 1000; i++) {
                clock.begin(0x08000000 + 4 * i, 4);
                clock.load(0x08020000 + 64 * i, 8);
                clock.issue(1);
            }
            assertThat(clock.fetchStalls()).isZero();
            assertThat(clock.dataStalls()).isZero();
        });
    }
}
