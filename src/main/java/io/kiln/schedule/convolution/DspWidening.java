// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Where a kernel finds the inputs of a pixel's window, which it widens to 16 bits, four at a time. */
public sealed interface DspWidening {
    /**
     * The windows of a convolution, if all of them are runs of the input, or the rows under them are copied so that all of a window lies
     * inside.
     *
     * @param isShort whether code must be short
     */
    static Optional<DspWidening> of(ConvComputation conv, boolean isShort) {
        if (conv.groups() > 1) {
            return Optional.empty();
        }
        if (DspPaddedRows.areFor(conv)) {
            return Optional.of(DspPaddedRows.widening(conv, isShort));
        }
        Window w = conv.window();
        boolean isRun = w.kernelH() == 1 && !w.isPadded() && !DspWindow.isDilated(conv) && conv.taps() >= 4;
        return isRun ? Optional.of(DspRuns.single(conv.taps(), pitch(conv))) : Optional.empty();
    }

    /** Elements of the input from the window of a pixel to that of the next one. */
    static int pitch(ConvComputation conv) {
        return conv.window().strideW() * conv.input().dim(3);
    }

    /** The same in less code. */
    DspWidening inShort();

    /** Part of a kernel's name. */
    String suffix();

    /** Inputs of a window, some of which may have no weight. */
    int inputs();

    /** Bytes from a pixel's inputs to the next one's. */
    int pitch();

    /** C's expression for the offset of input {@code i}. */
    String place();

    /** Whether r0 is changed although halves are stored one by one. */
    boolean movesScratch();

    /**
     * Inputs at constant offsets, widened in straight code.
     *
     * @param offsets offsets of inputs from a pixel's first one; whole fours
     * @param pitch bytes from a pixel's inputs to the next one's
     * @param kind part of a kernel's name: everything that the offsets depend on
     */
    record DspPlaces(List<Integer> offsets, int pitch, String kind) implements DspWidening {
        public DspPlaces {
            offsets = List.copyOf(offsets);
        }

        static DspPlaces of(int[] offsets, int pitch, String kind) {
            return new DspPlaces(Arrays.stream(offsets).boxed().toList(), pitch, kind);
        }

        @Override
        public DspPlaces inShort() {
            return this;
        }

        @Override
        public String suffix() {
            return kind + "_step" + pitch;
        }

        @Override
        public int inputs() {
            return offsets.size();
        }

        @Override
        public String place() {
            return "places[i]";
        }

        @Override
        public boolean movesScratch() {
            return false;
        }

        /** Whether the inputs of a four lie one after the other. */
        public boolean areNeighbours(int four) {
            int from = offsets.get(4 * four);
            return IntStream.range(1, 4).allMatch(i -> offsets.get(4 * four + i) == from + i);
        }
    }

    /**
     * Inputs of a window that lie as equal runs of neighbours, at equal distances. A kernel widens a run four inputs at a time; one that is no multiple of four is
     * filled up.
     *
     * @param run inputs of a run
     * @param columns runs next to each other, and their distance
     * @param rows rows of runs, and their distance
     * @param pitch bytes from a pixel's inputs to the next one's
     * @param straight fours of inputs of both pixels that take straight code, and how many more a loop has; even
     * @param isInPlace whether inputs are widened where they are multiplied
     */
    record DspRuns(int run, Spaced columns, Spaced rows, int pitch, int straight, boolean isInPlace)
            implements DspWidening {
        /**
         * Repetition at a constant distance.
         *
         * @param count how many
         * @param distance bytes from one to the next
         */
        public record Spaced(int count, int distance) {
            private static final Spaced ONE = new Spaced(1, 0);
        }

        /** Fours of inputs that take straight code where code may be long. */
        static final int STRAIGHT = 8;

        /** The same where it may not. */
        private static final int SHORT = 2;

        /** Largest number of channels that are widened in place: two registers of those for sums hold inputs. */
        static final int MOST_CHANNELS_IN_PLACE = 3;

        /** One run, of at least four inputs. */
        static DspRuns single(int run, int pitch) {
            return new DspRuns(run, Spaced.ONE, Spaced.ONE, pitch, STRAIGHT, false);
        }

        @Override
        public DspRuns inShort() {
            return new DspRuns(run, columns, rows, pitch, isInPlace ? 2 * SHORT : SHORT, isInPlace);
        }

        /** Whether there is one run only. */
        public boolean isSingle() {
            return columns.count == 1 && rows.count == 1;
        }

        /** Inputs of a run in fours. */
        public int filled() {
            return (run + 3) / 4 * 4;
        }

        @Override
        public String suffix() {
            String grid = isSingle()
                    ? ""
                    : "_" + rows.count + "x" + columns.count + "_of" + run + "_" + rows.distance + "_"
                            + columns.distance;
            return "run" + grid + "_step" + pitch + (straight == STRAIGHT ? "" : "_by" + straight)
                    + (isInPlace ? "_in_place" : "");
        }

        @Override
        public int inputs() {
            return isSingle() ? run : rows.count * columns.count * filled();
        }

        @Override
        public String place() {
            String run = "i / " + filled();
            return isSingle()
                    ? "i"
                    : run + " / " + columns.count + " * " + rows.distance + " + " + run + " % " + columns.count + " * "
                            + columns.distance + " + i % " + filled();
        }

        /** Rounds of a loop that widens a run. */
        public int rounds() {
            int fours = run / 4;
            return fours >= 2 * straight ? fours / straight : 0;
        }

        /** The same where inputs are widened in place. */
        public int roundsInPlace() {
            int fours = filled() / 4;
            return columns.count == 1 && fours >= 2 * straight ? fours / straight : 0;
        }

        /** Whether windows of so many runs side by side are few enough instructions to be widened in place. */
        boolean suitsInPlace() {
            return columns.count == 1 || columns.count * filled() <= 16 * STRAIGHT;
        }

        @Override
        public boolean movesScratch() {
            return rounds() > 0 || !isSingle();
        }
    }
}
