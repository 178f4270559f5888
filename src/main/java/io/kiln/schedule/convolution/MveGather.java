// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;

import io.kiln.ir.op.Window;
import io.kiln.ir.text.Place;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** Copies windows to scratch as runs of bytes, for the rows of a matrix product on MVE. */
public sealed interface MveGather {
    /** Limit for copied bytes, if at least two pixels fit. */
    int MOST_SCRATCH = 2048;

    /** Instructions of a kernel's call, counted. */
    int CALL = 20;

    /** Name of the method. */
    String title();

    /** Pixels of a row whose windows are in scratch together. */
    int chunk();

    /** Bytes of scratch that are written. */
    int scratchBytes();

    /** Bytes between the windows of neighbouring pixels. */
    int step();

    /** Position in the weights of byte {@code i} of a window. */
    int weightIndex(int channel, int i);

    /** Emits the code that runs once for an output row. */
    void startRow(BlockBuilder block, Place place);

    /** Emits the copying of the windows of pixels from x on; returns the first one. */
    Buffer windows(BlockBuilder block, Place place, int x, int pixels);

    /**
     * An output row, and the buffers.
     *
     * @param n image of the batch
     * @param top input row of the window's first row, which may lie outside
     */
    record Place(Rows rows, Buffer input, Buffer scratch, Expr n, Expr top) {}

    /** The method with fewer instructions, counted for 16 pixels of a window's row. */
    static MveGather of(ConvComputation conv) {
        Window w = conv.window();
        int channels = conv.input().dim(3);
        int run = w.kernelW() * channels;
        int columns = 16 * w.strideW() * MveCopy.cost(channels);
        int copyRow = 3 * w.strideW() * channels + 16 * CALL / conv.output().dim(2);
        int band = 16 * MveCopy.cost(run) + copyRow;
        boolean isDilated = w.dilationW() > 1 && w.kernelW() > 1;
        return isDilated || (run <= MveCopy.MOST_RUN && band < columns) ? MveBand.of(conv) : MveColumns.of(conv);
    }

    /** Largest number of pixels, in equal chunks of a row, for which a size stays within the limit; at least two. */
    static int chunk(int width, IntUnaryOperator bytes) {
        int chunks = 1;
        while (bytes.applyAsInt((width + chunks - 1) / chunks) > MOST_SCRATCH && width > 2 * chunks) {
            chunks++;
        }
        return (width + chunks - 1) / chunks;
    }

    /** Columns of the padded input under the windows of neighbouring pixels. */
    static int columns(ConvComputation conv, int pixels) {
        return (pixels - 1) * conv.window().strideW() + conv.window().spanW();
    }

    /** Whether an input row lies inside the input. */
    static Expr isInside(ConvComputation conv, Expr row) {
        return Exprs.and(
                Exprs.gt(row, Exprs.imm(-1)),
                Exprs.lt(row, Exprs.imm(conv.input().dim(1))));
    }

    /** Element of the input at which a row begins. */
    static Expr inputRow(ConvComputation conv, Rows rows, Expr n, Expr row) {
        Expr line = Exprs.add(Exprs.mul(n, conv.input().dim(1)), rows.inputLine(0, row));
        return Exprs.mul(line, (long) conv.input().dim(2) * conv.input().dim(3));
    }

    /**
     * Copies columns of the padded input, so that each byte is copied once for a row and windows overlap:
     *
     * <pre>
     * scratch   [column][ky][channel]
     *           |--- window of x ---|
     *                |--- window of x + 1 ---|
     * </pre>
     *
     * @param chunk number of pixels whose columns are copied together
     */
    record MveColumns(ConvComputation conv, int chunk) implements MveGather {
        static MveColumns of(ConvComputation conv) {
            int width = conv.output().dim(2);
            return new MveColumns(conv, MveGather.chunk(width, pixels -> bytes(conv, pixels)));
        }

        private static int bytes(ConvComputation conv, int pixels) {
            return MveGather.columns(conv, pixels)
                    * conv.window().kernelH()
                    * conv.input().dim(3);
        }

        @Override
        public String title() {
            return "columns";
        }

        @Override
        public int scratchBytes() {
            return bytes(conv, chunk);
        }

        /** Bytes of a column. */
        private int column() {
            return conv.window().kernelH() * conv.input().dim(3);
        }

        @Override
        public int step() {
            return conv.window().strideW() * column();
        }

        @Override
        public int weightIndex(int channel, int i) {
            int channels = conv.input().dim(3);
            return conv.weightIndex(channel, i % column() / channels, i / column(), i % channels);
        }

        @Override
        public void startRow(BlockBuilder block, Place place) {}

        @Override
        public Buffer windows(BlockBuilder block, Place place, int x, int pixels) {
            Window w = conv.window();
            int first = x * w.strideW() - w.padLeft();
            int count = MveGather.columns(conv, pixels);
            int left = Math.min(count, Math.max(0, -first));
            int right = Math.min(
                    count - left, Math.max(0, first + count - conv.input().dim(2)));
            int inside = count - left - right;
            MveCopy.fill(block, "left", place.scratch(), 0, left * column(), conv.inputZeroPoint());
            int end = (count - right) * column();
            MveCopy.fill(block, "right", place.scratch(), end, right * column(), conv.inputZeroPoint());
            for (int ky = 0; ky < (inside == 0 ? 0 : w.kernelH()); ky++) {
                Expr row = add(place.top(), (long) ky * w.dilationH());
                Run run = new Run(ky, left * column() + ky * conv.input().dim(3), inside);
                if (w.padTop() + w.padBottom() == 0) {
                    copy(block, place, row, first + left, run);
                } else {
                    block.ifThenElse(
                            MveGather.isInside(conv, row),
                            b -> copy(b, place, row, first + left, run),
                            b -> fill(b, place, run));
                }
            }
            return place.scratch();
        }

        /** One row of the window in {@code count} columns, from a position in scratch on. */
        private record Run(int ky, int place, int count) {}

        private void copy(BlockBuilder block, Place place, Expr row, int column, Run run) {
            int channels = conv.input().dim(3);
            Expr start = block.let(
                    "row" + run.ky(),
                    add(MveGather.inputRow(conv, place.rows(), place.n(), row), (long) column * channels));
            for (int c = 0; c < channels; c += MveCopy.MOST_RUN) {
                String part = run.ky() + (c == 0 ? "" : "_" + c);
                Buffer from = block.view("from" + part, place.input(), add(start, c));
                Buffer to = block.mutableView("to" + part, place.scratch(), imm(run.place() + c));
                int bytes = Math.min(channels - c, MveCopy.MOST_RUN);
                block.call(MveCopy.spread(bytes, channels, column()), List.of(from, to), List.of(imm(run.count())));
            }
        }

        private void fill(BlockBuilder block, Place place, Run run) {
            int channels = conv.input().dim(3);
            for (int c = 0; c < channels; c += MveCopy.MOST_RUN) {
                String name = "outside" + run.ky() + (c == 0 ? "" : "_" + c);
                Buffer to = block.mutableView(name, place.scratch(), imm(run.place() + c));
                block.call(
                        MveCopy.fillEvery(Math.min(channels - c, MveCopy.MOST_RUN)),
                        List.of(to),
                        List.of(imm(conv.inputZeroPoint()), imm(run.count()), imm(column())));
            }
        }
    }

    /**
     * Copies the padded rows under an output row, then from these the windows one by one; for few channels, where a row of
     * a window is a short run, and for dilated windows, where it is a run for each of its columns:
     *
     * <pre>
     * scratch   [ky][column][channel]                              the rows with their padding
     *           [pixel][ky][kx][channel]                           windows
     * </pre>
     *
     * @param chunk number of pixels whose windows are copied together
     */
    record MveBand(ConvComputation conv, int chunk) implements MveGather {
        static MveBand of(ConvComputation conv) {
            int width = conv.output().dim(2);
            return new MveBand(conv, MveGather.chunk(width, pixels -> bandBytes(conv) + pixels * conv.taps()));
        }

        private static int rowBytes(ConvComputation conv) {
            return MveGather.columns(conv, conv.output().dim(2)) * conv.input().dim(3);
        }

        private static int bandBytes(ConvComputation conv) {
            return conv.window().kernelH() * rowBytes(conv);
        }

        @Override
        public String title() {
            return "windows";
        }

        @Override
        public int scratchBytes() {
            return bandBytes(conv) + chunk * conv.taps();
        }

        @Override
        public int step() {
            return conv.taps();
        }

        @Override
        public int weightIndex(int channel, int i) {
            int channels = conv.input().dim(3);
            int run = conv.window().kernelW() * channels;
            return conv.weightIndex(channel, i / run, i % run / channels, i % channels);
        }

        @Override
        public void startRow(BlockBuilder block, Place place) {
            Window w = conv.window();
            int channels = conv.input().dim(3);
            int columns = MveGather.columns(conv, conv.output().dim(2));
            int left = Math.min(w.padLeft(), columns) * channels;
            int inside = Math.min(conv.input().dim(2) * channels, columns * channels - left);
            int right = columns * channels - left - inside;
            for (int ky = 0; ky < w.kernelH(); ky++) {
                int start = ky * rowBytes(conv);
                int zero = conv.inputZeroPoint();
                MveCopy.fill(block, "left" + ky, place.scratch(), start, left, zero);
                MveCopy.fill(block, "right" + ky, place.scratch(), start + left + inside, right, zero);
                Expr row = add(place.top(), (long) ky * w.dilationH());
                int k = ky;
                if (inside == 0) {
                    continue;
                }
                if (w.padTop() + w.padBottom() == 0) {
                    copy(block, place, row, k, left, inside);
                } else {
                    block.ifThenElse(
                            MveGather.isInside(conv, row),
                            b -> copy(b, place, row, k, left, inside),
                            b -> MveCopy.fill(b, "outside" + k, place.scratch(), start + left, inside, zero));
                }
            }
        }

        private void copy(BlockBuilder block, Place place, Expr row, int ky, int left, int bytes) {
            Expr start = MveGather.inputRow(conv, place.rows(), place.n(), row);
            Buffer from = block.view("row" + ky, place.input(), start);
            Buffer to = block.mutableView("band" + ky, place.scratch(), imm(ky * rowBytes(conv) + left));
            block.call(MveCopy.COPY, List.of(from, to), List.of(imm(bytes)));
        }

        @Override
        public Buffer windows(BlockBuilder block, Place place, int x, int pixels) {
            Window w = conv.window();
            int channels = conv.input().dim(3);
            int adjacent = w.dilationW() == 1 ? w.kernelW() : 1;
            int to = bandBytes(conv);
            for (int ky = 0; ky < w.kernelH(); ky++) {
                for (int kx = 0; kx < w.kernelW(); kx += adjacent) {
                    int column = x * w.strideW() + kx * w.dilationW();
                    BandRun run = new BandRun(ky * rowBytes(conv) + column * channels, to, adjacent * channels);
                    copy(block, place, run, pixels);
                    to += run.bytes;
                }
            }
            return block.view("windows", place.scratch(), imm(bandBytes(conv)));
        }

        /** Bytes that are adjacent in a row and in a window, of the first pixel. */
        private record BandRun(int from, int to, int bytes) {}

        private void copy(BlockBuilder block, Place place, BandRun run, int pixels) {
            for (int c = 0; c < run.bytes; c += MveCopy.MOST_RUN) {
                String suffix = String.valueOf(run.to - bandBytes(conv) + c);
                Buffer from = block.view("from" + suffix, place.scratch(), imm(run.from + c));
                Buffer to = block.mutableView("to" + suffix, place.scratch(), imm(run.to + c));
                int part = Math.min(run.bytes - c, MveCopy.MOST_RUN);
                int step = conv.window().strideW() * conv.input().dim(3);
                block.call(MveCopy.spread(part, step, conv.taps()), List.of(from, to), List.of(imm(pixels)));
            }
        }
    }
}
