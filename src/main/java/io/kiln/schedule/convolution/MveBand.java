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
                Run run = new Run(ky * rowBytes(conv) + column * channels, to, adjacent * channels);
                copy(block, place, run, pixels);
                to += run.bytes;
            }
        }
        return block.view("windows", place.scratch(), imm(bandBytes(conv)));
    }

    /** Bytes that are adjacent in a row and in a window, of the first pixel. */
    private record Run(int from, int to, int bytes) {}

    private void copy(BlockBuilder block, Place place, Run run, int pixels) {
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
