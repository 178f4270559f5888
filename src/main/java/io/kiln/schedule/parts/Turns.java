// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import java.util.Comparator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * How a loop of equal steps is unrolled: some steps as straight code, then turns of several steps each. Where the number of steps is no whole number of
 * turns, the first turn is entered in its middle.
 *
 * @param first steps before the loop; all of them if there is no loop
 * @param loop steps of a turn; 0 for no loop
 * @param skipped steps that the first turn leaves out, because it is entered behind them
 */
public record Turns(int first, int loop, int skipped) {
    /** Cycles of a loop's end. */
    public static final int END = 8;

    /** Cycles of an entry in the middle. */
    private static final int ENTRY = 3;

    /**
     * The turns that take the least time.
     *
     * @param steps how many there are
     * @param most steps in code, at least two
     */
    public static Turns of(int steps, int most) {
        if (steps <= most) {
            return new Turns(steps, 0, 0);
        }
        return IntStream.range(1, most)
                .boxed()
                .flatMap(loop -> Stream.of(
                        new Turns((steps - 1) % loop + 1, loop, 0), new Turns(1, loop, Math.floorMod(1 - steps, loop))))
                .filter(turns -> turns.first + turns.loop <= most)
                .min(Comparator.<Turns>comparingInt(turns -> turns.cycles(steps))
                        .thenComparingInt(turns -> turns.first + turns.loop))
                .orElseThrow();
    }

    /** Cycles that the ends of the loop, and an entry in its middle, cost. */
    public int cycles(int steps) {
        return loop == 0 ? 0 : END * ((steps - first + skipped) / loop) + (skipped > 0 ? ENTRY : 0);
    }

    /** The same with steps that each stand for several. */
    public Turns times(int together) {
        return new Turns(first * together, loop * together, skipped * together);
    }
}
