// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.ir.op.Window;
import io.kiln.lower.BiasTable;
import io.kiln.lower.ConvComputation;
import io.kiln.lower.Epilogue;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Convolution of int16 data with {@code SMLAD}: two pixels side by side times four output channels, two taps at a time.
 *
 * <pre>
 * registers: 8 sums, 2 inputs, 1 weight, 3 pointers
 * weights: widened to int16, two taps in a word; per block of 4 channels [ky][pair of taps][channel]
 * memory: scratch for the 8 sums between the rows of a window
 * </pre>
 *
 * <p>For windows without padding whose rows have an even number of values, where the weights prove that no sum leaves 32 bits.
 */
final class DspWideConv {
    private static final int CHANNELS = 3;
    private static final int PIXELS = 2;

    private final ConvComputation conv;
    private final int pixels;
    private final Buffer input;
    private final Buffer output;
    private final Buffer weights;
    private final Buffer sums;
    private final BiasTable bias;
    private final Epilogue epilogue;

    private DspWideConv(ConvTask task) {
        Tables tables = task.tables();
        this.conv = task.conv();
        this.pixels = Math.min(PIXELS, conv.output().dim(2));
        this.input = task.buffers().argument(0);
        this.output = task.buffers().output();
        this.weights = tables.add("weight", INT32, packWeights());
        this.bias = BiasTable.of(conv, tables);
        this.epilogue = new Epilogue(conv.op(), bias.bound(), tables);
        this.sums = task.buffers().scratch(INT32, (long) pixels * CHANNELS);
    }

    /** The schedule, if it suits. */
    static Optional<ConvSchedule> schedule(ConvTask task) {
        ConvComputation conv = task.conv();
        if (!task.features().hasDsp() || task.isForSize() || !suits(conv)) {
            return Optional.empty();
        }
        DspWideConv schedule = new DspWideConv(task);
        String text = "dsp_conv16(pixel_block=" + schedule.pixels + ", channel_block=" + CHANNELS + ")";
        String reason = "two products in one instruction; sums are proven to fit 32 bits";
        return Optional.of(new ConvSchedule(schedule.body(task.rows()), task.macs(), text, reason));
    }

    private static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        return conv.dataType() == INT16
                && !conv.isTransposed()
                && !conv.depthwise()
                && conv.groups() == 1
                && !w.isPadded()
                && (w.dilationW() == 1 || w.kernelW() == 1)
                && run(conv) % 2 == 0
                && BiasTable.of(conv, new Tables("")).buffer().dtype() == INT32;
    }

    /** Values under one row of a window, which follow each other. */
    private static int run(ConvComputation conv) {
        return conv.window().kernelW() * conv.channelsPerGroup();
    }

    /** Channels beyond the last are 0. */
    private int[] packWeights() {
        Window w = conv.window();
        int blocks = (conv.channels() + CHANNELS - 1) / CHANNELS;
        int[] packed = new int[blocks * CHANNELS * w.kernelH() * run(conv) / 2];
        int at = 0;
        for (int first = 0; first < blocks * CHANNELS; first += CHANNELS) {
            for (int ky = 0; ky < w.kernelH(); ky++) {
                for (int tap = 0; tap < run(conv); tap += 2) {
                    for (int o = first; o < first + CHANNELS; o++) {
                        packed[at++] = o < conv.channels() ? pair(o, ky, tap) : 0;
                    }
                }
            }
        }
        return packed;
    }

    private int pair(int o, int ky, int tap) {
        return (weight(o, ky, tap) & 0xFFFF) | weight(o, ky, tap + 1) << Short.SIZE;
    }

    private int weight(int o, int ky, int tap) {
        return conv.tap(o, ky, tap / conv.channelsPerGroup(), tap % conv.channelsPerGroup());
    }

    private Stmt body(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        int width = conv.output().dim(2);
        int whole = width / pixels * pixels;
        body.loop(
                "n",
                conv.output().dim(0),
                (batch, n) ->
                        batch.loop("y", rows.firstLine(conv.output()), rows.endLine(conv.output()), 1, (row, y) -> {
                            row.loop("x", imm(0), imm(whole), pixels, (b, x) -> block(b, rows, n, y, x, pixels));
                            row.loop("x", imm(whole), imm(width), 1, (b, x) -> block(b, rows, n, y, x, 1));
                        }));
        return body.build();
    }

    private void block(BlockBuilder block, Rows rows, Expr n, Expr y, Expr x, int count) {
        Expr line = add(mul(n, conv.output().dim(1)), rows.outputLine(y));
        Expr out = block.let("pixel", mul(add(mul(line, conv.output().dim(2)), x), conv.channels()));
        Window w = conv.window();
        int wholeChannels = conv.channels() / CHANNELS * CHANNELS;
        ChannelBody channels = (inner, oc, valid) -> {
            start(inner, oc, valid, count);
            inner.loop("ky", w.kernelH(), (b, ky) -> {
                Expr inputRow = rows.inputLine(0, add(mul(y, w.strideH()), mul(ky, w.dilationH())));
                Expr pixel = add(
                        mul(
                                add(mul(n, conv.input().dim(1)), inputRow),
                                conv.input().dim(2)),
                        mul(x, w.strideW()));
                accumulate(b, mul(pixel, conv.channelsPerGroup()), oc, ky, count);
            });
            store(inner, oc, valid, count, out);
        };
        block.loop("oc", imm(0), imm(wholeChannels), CHANNELS, (inner, oc) -> channels.emit(inner, oc, CHANNELS));
        block.loop(
                "oc",
                imm(wholeChannels),
                imm(conv.channels()),
                CHANNELS,
                (inner, oc) -> channels.emit(inner, oc, conv.channels() - wholeChannels));
    }

    /** Emits a block of channels, of which so many exist. */
    @FunctionalInterface
    private interface ChannelBody {
        void emit(BlockBuilder block, Expr oc, int valid);
    }

    private void start(BlockBuilder block, Expr oc, int valid, int count) {
        for (int o = 0; o < CHANNELS; o++) {
            Expr first = o < valid ? block.let("start" + o, load(bias.buffer(), add(oc, o))) : imm(0);
            for (int p = 0; p < count; p++) {
                block.store(sums, imm((long) p * CHANNELS + o), first);
            }
        }
    }

    private void accumulate(BlockBuilder block, Expr first, Expr oc, Expr ky, int count) {
        int pairs = run(conv) / 2;
        Expr row = add(mul(oc, conv.window().kernelH()), mul(ky, CHANNELS));
        List<Buffer> pointers = new ArrayList<>();
        for (int p = 0; p < count; p++) {
            long step = (long) p * conv.window().strideW() * conv.channelsPerGroup();
            pointers.add(block.view("in" + p, input, add(first, step)));
        }
        pointers.add(block.view("w", weights, mul(row, pairs)));
        pointers.add(sums);
        block.call(DspWideKernel.of(count), pointers, List.of(imm(pairs)));
    }

    private void store(BlockBuilder block, Expr oc, int valid, int count, Expr out) {
        for (int p = 0; p < count; p++) {
            for (int o = 0; o < valid; o++) {
                String suffix = p + "_" + o;
                Expr sum = block.let("sum" + suffix, load(sums, imm((long) p * CHANNELS + o)));
                Expr index = add(add(out, (long) p * conv.channels()), add(oc, o));
                epilogue.store(block, suffix, sum, add(oc, o), output, index);
            }
        }
    }
}
