// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata.BufferOverlaps;
import io.kiln.artifact.ModelMetadata.PlannedBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BufferOverlapsTest {
    @Test
    void buffersThatFollowEachOtherInSomeBytesArePairs() {
        assertThat(BufferOverlaps.of(List.of(
                        buffer(0, 100, 0, 1), buffer(20, 20, 2, 2), buffer(0, 100, 3, 4), buffer(100, 8, 0, 4))))
                .<Collection<Integer>>map(TreeSet::new)
                .containsExactly(
                        new TreeSet<>(List.of(1, 2)),
                        new TreeSet<>(List.of(0, 2)),
                        new TreeSet<>(List.of(0, 1)),
                        new TreeSet<>());
    }

    @Test
    void aBufferWithoutBytesSharesNone() {
        assertThat(BufferOverlaps.of(List.of(buffer(0, 16, 0, 1), buffer(8, 0, 1, 2))))
                .allMatch(overlaps -> overlaps.isEmpty());
    }

    @Test
    void pairsAreThoseOfAMapOfTheBytes() {
        Random random = new Random(5);
        for (int round = 0; round < 200; round++) {
            List<PlannedBuffer> buffers = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                int first = random.nextInt(8);
                buffers.add(buffer(random.nextInt(24), random.nextInt(16), first, first + random.nextInt(3)));
            }
            assertThat(BufferOverlaps.of(buffers)).isEqualTo(byBytes(buffers));
        }
    }

    @Test
    void pairsGrowLikeTheNumberOfBuffers() {
        List<PlannedBuffer> chain = IntStream.range(0, 10_000)
                .mapToObj(i -> buffer(i % 2 * 64L, 64, i, i + 1))
                .toList();
        assertThat(BufferOverlaps.of(chain).stream()
                        .mapToInt(overlaps -> overlaps.size())
                        .sum())
                .isEqualTo(2 * 9_998);
    }

    private static PlannedBuffer buffer(long offset, long bytes, int firstUse, int lastUse) {
        return new PlannedBuffer("buffer", offset, bytes, firstUse, lastUse, List.of());
    }

    /** Each byte of 64 remembers who had it last. */
    private static List<SortedSet<Integer>> byBytes(List<PlannedBuffer> buffers) {
        List<SortedSet<Integer>> pairs = new ArrayList<>();
        buffers.forEach(buffer -> pairs.add(new TreeSet<>()));
        int[] holder = IntStream.range(0, 64).map(i -> -1).toArray();
        for (int step = 0; step < 8; step++) {
            for (int i = 0; i < buffers.size(); i++) {
                PlannedBuffer buffer = buffers.get(i);
                if (buffer.firstUse() != step) {
                    continue;
                }
                for (int at = (int) buffer.offset(); at < buffer.offset() + buffer.bytes(); at++) {
                    if (holder[at] >= 0) {
                        pairs.get(i).add(holder[at]);
                        pairs.get(holder[at]).add(i);
                    }
                    holder[at] = i;
                }
            }
        }
        return pairs;
    }
}
