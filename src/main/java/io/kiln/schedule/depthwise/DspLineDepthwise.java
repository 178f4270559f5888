// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.DspEpilogue;
import io.kiln.schedule.convolution.DspPaddedRows;
import io.kiln.schedule.convolution.DspRequantize;
import io.kiln.schedule.depthwise.DspLineKernel.Line;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Depthwise convolution on Cortex-M with the DSP extension, channel by channel, with the sums of some neighbouring outputs in registers, by
 * {@link DspLineKernel}.
 *
 * <pre>
 * narrow rows: all outputs of a row at once; rows are read where they lie, those outside the input from a table; no scratch
 * others: the rows under a line of windows are copied with their padding ({@link DspPaddedRows}); the last outputs of a row, if fewer are
 *         left, overlap the ones before
 * weights: per channel the padding's shares in sums, [row][word of two taps], 16 bits each, then the constants
 * </pre>
 */
final class DspLineDepthwise {
    private final ConvComputation conv;
    private final DspRequantize rescale;
    private final Line line;
    private final DspLineKernel kernel;
    private final Rows rows;
    private final Buffer input;
    private final Buffer output;
    private final Buffer weights;
    private final Buffer outside;
    private final Buffer source;
    private final DspPaddedRows padded;

    /**
     * Packs weights and reserves scratch.
     *
     * @param outputs neighbouring outputs computed together
     */
    DspLineDepthwise(ConvTask task, DspRequantize rescale, int outputs) {
        this.conv = task.conv();
        this.rescale = rescale;
        this.line = line(conv, outputs);
        this.kernel = new DspLineKernel(line, DspEpilogue.of(rescale));
        this.rows = task.rows();
        this.input = task.buffers().argument(0);
        this.output = task.buffers().output();
        this.weights = task.tables().add("weight", DType.INT32, pack());
        this.outside =
                line.isApart() && hasRowsOutside(conv) ? task.tables().add("padding", DType.INT8, rowOutside()) : input;
        this.source = line.isApart() ? input : task.buffers().scratch(DType.INT8, DspPaddedRows.scratchBytes(conv));
        this.padded = new DspPaddedRows(conv, input, source);
    }

    private static boolean hasRowsOutside(ConvComputation conv) {
        return conv.window().padTop() + conv.window().padBottom() > 0;
    }

    /** The outputs that a call computes: a whole narrow row with its padding, or some of a row whose padding is copied. */
    static Line line(ConvComputation conv, int outputs) {
        Window w = conv.window();
        int columns = (outputs - 1) * w.strideW() + w.kernelW();
        if (isNarrow(conv, outputs)) {
            int inputs = Math.min(conv.input().dim(2), columns - w.padLeft());
            return new Line(w.kernelH(), w.kernelW(), w.strideW(), outputs, w.padLeft(), inputs, conv.channels(), 0);
        }
        int pitch = DspPaddedRows.pitch(conv);
        return new Line(w.kernelH(), w.kernelW(), w.strideW(), outputs, 0, columns, conv.channels(), pitch);
    }

    /** Whether some outputs are a whole row, and there are registers for the addresses of the rows under their windows. */
    private static boolean isNarrow(ConvComputation conv, int outputs) {
        return outputs == conv.output().dim(2) && conv.window().kernelH() <= DspLineKernel.MOST_ROWS_APART;
    }

    /** The loops. */
    LayerLoops loops() {
        int width = conv.output().dim(2);
        long computed = (width + line.outputs() - 1L) / line.outputs() * line.outputs();
        long macs = conv.output().elements() / width * computed * conv.taps();
        return new LayerLoops(body(), macs).sharing(line.outputs());
    }

    private Bytes rowOutside() {
        byte[] row = new byte[conv.input().dim(2) * conv.channels()];
        Arrays.fill(row, (byte) conv.inputZeroPoint());
        return Bytes.wrap(row);
    }

    private int[] pack() {
        List<Integer> words = new ArrayList<>();
        int scale = rescale.isSummed() ? DspRequantize.LEAST_SCALE_BITS : 0;
        for (int c = 0; c < conv.channels(); c++) {
            int[] sums = sumsOfTaps(c);
            for (int output : line.padded()) {
                words.add((conv.inputZeroPoint() * line.paddedShare(output, sums)) << scale);
            }
            for (int ky = 0; ky < line.rows(); ky++) {
                for (int first : line.words()) {
                    int second = first + 1 < line.taps() ? conv.tap(c, ky, first + 1, 0) : 0;
                    words.add(((conv.tap(c, ky, first, 0) << scale) & 0xFFFF) | (second << (scale + 16)));
                }
            }
            rescale.put(c, words);
        }
        return words.stream().mapToInt(Integer::intValue).toArray();
    }

    /** For each column of the window the sum of a channel's weights. */
    private int[] sumsOfTaps(int channel) {
        int[] sums = new int[line.taps()];
        for (int ky = 0; ky < line.rows(); ky++) {
            for (int kx = 0; kx < line.taps(); kx++) {
                sums[kx] += conv.tap(channel, ky, kx, 0);
            }
        }
        return sums;
    }

    private Stmt body() {
        BlockBuilder body = new BlockBuilder();
        if (!line.isApart()) {
            padded.begin(body);
        }
        body.loop("n", conv.output().dim(0), (batch, n) -> {
            Expr begin = rows.firstLine(conv.output());
            Expr end = rows.endLine(conv.output());
            batch.loop("y", begin, end, 1, (row, y) -> {
                Expr to = row.let(
                        "to_line",
                        mul(
                                add(mul(n, conv.output().dim(1)), rows.outputLine(y)),
                                (long) conv.output().dim(2) * conv.channels()));
                if (line.isApart()) {
                    narrow(row, n, y, to);
                } else {
                    wide(row, n, y, to);
                }
            });
        });
        return body.build();
    }

    /** A row of the output. */
    private void narrow(BlockBuilder block, Expr n, Expr y, Expr to) {
        Window w = conv.window();
        Expr top = block.let("top", sub(mul(y, w.strideH()), imm(w.padTop())));
        List<Expr> scalars = new ArrayList<>();
        for (int ky = 0; ky < w.kernelH(); ky++) {
            scalars.add(block.let("row" + ky, place(n, add(top, (long) ky * w.dilationH()))));
        }
        scalars.addAll(kernel.epilogue().arguments());
        Buffer out = block.mutableView("out", output, to);
        block.call(kernel.kernel(), List.of(input, outside, weights, out), scalars);
    }

    /** Offset of a row from the input; negative outside. */
    private Expr place(Expr n, Expr row) {
        int height = conv.input().dim(1);
        Expr offset = mul(
                add(mul(n, height), rows.inputLine(0, row)), (long) conv.input().dim(2) * conv.channels());
        if (!hasRowsOutside(conv)) {
            return offset;
        }
        return select(lt(row, imm(0)), imm(-1), select(lt(row, imm(height)), offset, imm(-1)));
    }

    /** A row of the output, in groups of outputs. */
    private void wide(BlockBuilder block, Expr n, Expr y, Expr to) {
        padded.line(block, rows, n, y);
        int width = conv.output().dim(2);
        int whole = width / line.outputs() * line.outputs();
        block.loop("x", imm(0), imm(whole), line.outputs(), (b, x) -> group(b, "", x, to));
        if (whole < width) {
            group(block, "_last", imm((long) width - line.outputs()), to);
        }
    }

    private void group(BlockBuilder block, String suffix, Expr x, Expr to) {
        long step = (long) conv.window().strideW() * conv.channels();
        Buffer in = block.view("in" + suffix, source, add(padded.firstInput(), mul(x, step)));
        Buffer out = block.mutableView("out" + suffix, output, add(to, mul(x, conv.channels())));
        block.call(kernel.kernel(), List.of(in, weights, out), kernel.epilogue().arguments());
    }
}
