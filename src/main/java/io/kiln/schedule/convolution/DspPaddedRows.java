// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.and;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import java.util.ArrayList;
import java.util.List;

/**
 * Inputs of layers whose runs are not multiples of four, such as first layers, and of others where it pays: the rows
 * under a line of windows are copied into scratch with their padding,
 * so that every window lies inside and at constant distances. Also the rows of depthwise layers with large windows.
 *
 * <pre>
 * scratch: both windows widened, then kernelH rows of bytes
 * order of a small window: whole fours of each row (a rest of three counts as a whole one), then the rests of all rows together
 * </pre>
 */
public final class DspPaddedRows {
    /** Largest number of bytes of the rows: the reach of a load. */
    private static final int MOST_BYTES = 4095;

    /** Most bytes of the rows under a narrow output that are copied only to save time. */
    private static final int FEW_BYTES = 1024;

    /** Widest line in which a large part of the windows reaches into the padding. */
    private static final int NARROW = 12;

    /** Largest number of taps of straight code. */
    private static final int MOST_TAPS = 160;

    /** The same where code must be short. */
    private static final int MOST_IN_SHORT = 48;

    private final ConvComputation conv;
    private final Buffer input;
    private final Buffer scratch;
    private final boolean isShort;

    /** For kernels whose code may have any size. */
    public DspPaddedRows(ConvComputation conv, Buffer input, Buffer scratch) {
        this(conv, input, scratch, false);
    }

    /**
     * As above.
     *
     * @param isShort whether code must be short
     */
    DspPaddedRows(ConvComputation conv, Buffer input, Buffer scratch, boolean isShort) {
        this.isShort = isShort;
        this.conv = conv;
        this.input = input;
        this.scratch = scratch;
    }

    /**
     * Whether rows are short enough for the copy, and the runs of a window, or their parts inside the input, are not multiples of four, or
     * the copy pays anyway.
     */
    static boolean areFor(ConvComputation conv) {
        Window w = conv.window();
        boolean isDilated = DspWindow.isDilated(conv);
        int unit = w.isPadded() || isDilated ? conv.input().dim(3) : run(conv);
        return conv.groups() == 1
                && (w.isPadded() || w.kernelH() > 1 || isDilated)
                && (unit % 4 != 0 || pays(conv))
                && w.kernelH() * pitch(conv) <= MOST_BYTES;
    }

    /**
     * Whether a copy saves time even if runs are multiples of four: many windows reach into the padding, or are
     * scattered, or their inputs need not be widened apart.
     */
    private static boolean pays(ConvComputation conv) {
        boolean isNarrow = conv.window().isPadded()
                && conv.output().dim(2) <= NARROW
                && conv.window().kernelH() * pitch(conv) <= FEW_BYTES;
        return isNarrow || DspWindow.isDilated(conv) || isInPlace(conv);
    }

    private static int run(ConvComputation conv) {
        return conv.window().kernelW() * conv.input().dim(3);
    }

    /** Columns that windows touch, padding included. */
    private static int columns(ConvComputation conv) {
        return (conv.output().dim(2) - 1) * conv.window().strideW()
                + conv.window().spanW();
    }

    /** Bytes from row to row; a load of four at the end stays inside. */
    public static int pitch(ConvComputation conv) {
        return (columns(conv) * conv.input().dim(3) + 6) / 4 * 4;
    }

    /** Whether windows are small enough for straight code. */
    private static boolean isStraight(ConvComputation conv, boolean isShort) {
        return conv.taps() <= (isShort ? MOST_IN_SHORT : MOST_TAPS) && !isInPlace(conv);
    }

    /** Whether inputs are widened where they are multiplied, rather than for all channels before. */
    private static boolean isInPlace(ConvComputation conv) {
        return conv.channels() <= DspWidening.DspRuns.MOST_CHANNELS_IN_PLACE
                && runs(conv, true).suitsInPlace();
    }

    /** Bytes of scratch for widened inputs. */
    private static long widenedBytes(ConvComputation conv, boolean isShort) {
        return conv.depthwise() || isInPlace(conv) ? 0 : 4L * order(conv, isShort).length;
    }

    /** For each input of the widened window its tap, or -1 where there is none. */
    static int[] order(ConvComputation conv, boolean isShort) {
        if (!isStraight(conv, isShort)) {
            return DspWindow.order(conv);
        }
        return places(conv).stream()
                .mapToInt(p -> p.column() < run(conv) ? p.row() * run(conv) + p.column() : -1)
                .toArray();
    }

    public static long scratchBytes(ConvComputation conv) {
        return scratchBytes(conv, false);
    }

    static long scratchBytes(ConvComputation conv, boolean isShort) {
        return widenedBytes(conv, isShort) + (long) conv.window().kernelH() * pitch(conv);
    }

    /** A byte of a window, counted along its row. */
    private record Place(int row, int column) {
        /** Bytes from the window's first one. */
        int offset(ConvComputation conv) {
            int channels = conv.input().dim(3);
            int dilation = DspWindow.isDilated(conv) ? conv.window().dilationW() : 1;
            int inRow = column / channels * dilation * channels + column % channels;
            return row * pitch(conv) + (dilation > 1 && column >= run(conv) ? 0 : inRow);
        }
    }

    private static List<Place> places(ConvComputation conv) {
        List<Place> places = new ArrayList<>();
        List<Place> rests = new ArrayList<>();
        int run = run(conv);
        int whole = run % 4 == 3 ? run + 1 : run / 4 * 4;
        for (int row = 0; row < conv.window().kernelH(); row++) {
            for (int column = 0; column < Math.max(whole, run); column++) {
                (column < whole ? places : rests).add(new Place(row, column));
            }
        }
        places.addAll(rests);
        while (places.size() % 4 != 0) {
            places.add(new Place(0, run));
        }
        return places;
    }

    private Buffer rows(BlockBuilder block, String name, Expr offset) {
        return block.mutableView(name, scratch, add(offset, widenedBytes(conv, isShort)));
    }

    /** Byte of scratch at which a line's first window begins. */
    public Expr firstInput() {
        return imm(widenedBytes(conv, isShort));
    }

    /** How windows are widened. */
    static DspWidening widening(ConvComputation conv, boolean isShort) {
        int step = DspWidening.pitch(conv);
        if (isStraight(conv, isShort)) {
            int[] offsets = places(conv).stream().mapToInt(p -> p.offset(conv)).toArray();
            return DspWidening.DspPlaces.of(offsets, step, suffix(conv));
        }
        return runs(conv, isInPlace(conv));
    }

    private static DspWidening.DspRuns runs(ConvComputation conv, boolean isInPlace) {
        Window w = conv.window();
        int channels = conv.input().dim(3);
        boolean isDilated = DspWindow.isDilated(conv);
        return new DspWidening.DspRuns(
                isDilated ? channels : run(conv),
                new DspWidening.DspRuns.Spaced(isDilated ? w.kernelW() : 1, w.dilationW() * channels),
                new DspWidening.DspRuns.Spaced(w.kernelH(), pitch(conv)),
                DspWidening.pitch(conv),
                DspWidening.DspRuns.STRAIGHT,
                isInPlace);
    }

    /** Everything that offsets depend on. */
    private static String suffix(ConvComputation conv) {
        String dilated = DspWindow.isDilated(conv)
                ? "_dilated" + conv.window().dilationW() + "_" + conv.input().dim(3)
                : "";
        return conv.window().kernelH() + "x" + run(conv) + dilated + "_" + pitch(conv);
    }

    /** Fills the padding beside the input once, before all lines; copies do not overwrite it. */
    public void begin(BlockBuilder block) {
        int left = leftBytes();
        int right = left + copiedBytes();
        if (conv.window().isPadded()) {
            block.loop("ky", conv.window().kernelH(), (row, k) -> {
                fill(row, "left", mul(k, pitch(conv)), left);
                fill(row, "right", add(mul(k, pitch(conv)), right), pitch(conv) - right);
            });
        }
    }

    private void fill(BlockBuilder block, String name, Expr at, int bytes) {
        if (bytes > 0) {
            block.call(FILL_ROW, List.of(rows(block, name, at)), List.of(imm(bytes), imm(conv.inputZeroPoint())));
        }
    }

    /** Columns of padding on the left that windows reach: with wide strides they need not even reach its end. */
    private int leftColumns() {
        return Math.min(conv.window().padLeft(), columns(conv));
    }

    private int leftBytes() {
        return leftColumns() * conv.input().dim(3);
    }

    private int copiedBytes() {
        return Math.min(conv.input().dim(2), columns(conv) - leftColumns())
                * conv.input().dim(3);
    }

    /** Copies the rows under a line of the output. */
    public void line(BlockBuilder block, Rows rows, Expr n, Expr y) {
        Window w = conv.window();
        Expr bytes = imm(copiedBytes());
        block.loop("ky", w.kernelH(), (one, k) -> {
            Buffer to = rows(one, "to", add(mul(k, pitch(conv)), leftBytes()));
            Expr row = one.let("row", add(sub(mul(y, w.strideH()), imm(w.padTop())), mul(k, w.dilationH())));
            if (w.padTop() + w.padBottom() == 0) {
                copy(one, to, rows, n, row, bytes);
            } else {
                one.ifThenElse(
                        and(lt(imm(-1), row), lt(row, imm(conv.input().dim(1)))),
                        b -> copy(b, to, rows, n, row, bytes),
                        b -> b.call(FILL_ROW, List.of(to), List.of(bytes, imm(conv.inputZeroPoint()))));
            }
        });
    }

    private void copy(BlockBuilder block, Buffer to, Rows rows, Expr n, Expr row, Expr bytes) {
        Expr line = add(mul(n, conv.input().dim(1)), rows.inputLine(0, row));
        Buffer from = block.view(
                "from",
                input,
                mul(line, (long) conv.input().dim(2) * conv.input().dim(3)));
        block.call(COPY_ROW, List.of(to, from), List.of(bytes));
    }

    /** {@code (to, from, count)}. */
    private static final Kernel COPY_ROW = Kernel.inFile(
            "movement/kiln_copy_row", List.of(Kernel.Pointer.out(INT8), Kernel.Pointer.in(INT8)), List.of(INT32));

    /** {@code (to, count, value)}. */
    private static final Kernel FILL_ROW =
            Kernel.inFile("movement/kiln_fill_row", List.of(Kernel.Pointer.out(INT8)), List.of(INT32, INT32));
}
