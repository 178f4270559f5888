// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;

import io.kiln.ir.op.Window;
import io.kiln.ir.text.Place;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.List;

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
        int right =
                Math.min(count - left, Math.max(0, first + count - conv.input().dim(2)));
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
