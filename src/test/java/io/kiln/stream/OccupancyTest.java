// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.memory.Distances;
import io.kiln.stream.Liveness.Occupancy;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OccupancyTest {
    /** Rows with the times at which they are written and read last. */
    private static final class Rows {
        private final long rowBytes;
        private final int[] born;
        private final int[] dead;
        private final boolean wholly;

        Rows(long rowBytes, int[] born, int[] dead, boolean wholly) {
            this.rowBytes = rowBytes;
            this.born = born;
            this.dead = dead;
            this.wholly = wholly;
        }

        static Rows random(Random random) {
            int rows = 1 + random.nextInt(6);
            int[] born = new int[rows];
            int[] dead = new int[rows];
            for (int i = 0; i < rows; i++) {
                born[i] = (i == 0 ? random.nextInt(4) : born[i - 1]) + random.nextInt(3);
                dead[i] = Math.max(born[i] + random.nextInt(5), i == 0 ? 0 : dead[i - 1]);
            }
            return new Rows(1 + random.nextInt(4), born, dead, random.nextBoolean());
        }

        Occupancy occupancy() {
            return Occupancy.ofRows(rowBytes, born, dead, born.length, wholly ? 0 : 1);
        }

        boolean isAlive(long at, int time, int slots) {
            for (int row = 0; row < born.length; row++) {
                long first = row % slots * rowBytes;
                if (first <= at && at < first + rowBytes && born[row] <= time && time <= dead[row]) {
                    return true;
                }
            }
            return false;
        }
    }

    @Test
    void aRingHoldsAsManyRowsAsAreEverAlive() {
        Occupancy ring = Occupancy.ofRows(10, new int[] {1, 2, 3, 4}, new int[] {2, 4, 5, 6}, 9, 1);
        assertThat(ring.slots()).isEqualTo(3);
        assertThat(ring.bytes()).isEqualTo(30);
        Occupancy wholly = Occupancy.ofRows(10, new int[] {1, 2, 3, 4}, new int[] {2, 4, 5, 6}, 9, 0);
        assertThat(wholly.bytes()).isEqualTo(90);
    }

    @Test
    void distancesForbidJustThePlacesAtWhichLiveBytesMeet() {
        Random random = new Random(5);
        int partly = 0;
        for (int round = 0; round < 400; round++) {
            Rows a = Rows.random(random);
            Rows b = Rows.random(random);
            Occupancy mine = a.occupancy();
            Occupancy other = b.occupancy();
            Distances distances = mine.distances(other);
            Distances seenFromTheOther = distances.negated();
            for (long d = -30; d <= 30; d++) {
                boolean meet = meet(a, mine, b, other, d);
                assertThat(distances.forbid(d, 0))
                        .as("round %d at %d", round, d)
                        .isEqualTo(meet);
                assertThat(seenFromTheOther.forbid(0, d)).isEqualTo(meet);
                boolean apart = d >= other.bytes() || d <= -mine.bytes();
                partly += !meet && !apart && !distances.isEmpty() ? 1 : 0;
            }
        }
        assertThat(partly).isGreaterThan(400);
    }

    private static boolean meet(Rows a, Occupancy mine, Rows b, Occupancy other, long distance) {
        for (int time = 0; time < 40; time++) {
            for (long at = 0; at < mine.bytes(); at++) {
                if (a.isAlive(at, time, mine.slots()) && b.isAlive(at + distance, time, other.slots())) {
                    return true;
                }
            }
        }
        return false;
    }
}
