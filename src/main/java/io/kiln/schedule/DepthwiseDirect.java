// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Window;
import io.kiln.lower.BiasTable;
import io.kiln.lower.ConvComputation;
import io.kiln.lower.Epilogue;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.TapRange;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Depthwise convolution for any core: channels innermost, one accumulator; the taps of a pixel whose window lies inside
 * the input are written out, so that every load has a constant offset from a row pointer.
 *
 * <pre>
 * registers: accumulator, input value, weight, a pointer for each row of the window, pointer to weights
 * weights: as in the model, [ky][kx][channel]
 * memory: no scratch
 * </pre>
 */
final class DepthwiseDirect {
    /** Windows with more taps than this keep their loops, to bound the code's size. */
    private static final int MOST_UNROLLED_TAPS = 32;

    private final ConvComputation conv;
    private final Buffer input;
    private final Buffer output;
    private final Buffer weights;
    private final BiasTable bias;
    private final Epilogue epilogue;
    private final int multiplier;
    private final boolean isPacked;

    /** The schedule, which suits any depthwise convolution. */
    static Optional<ConvSchedule> schedule(ConvTask task) {
        ConvComputation conv = task.conv();
        if (!conv.depthwise()) {
            return Optional.empty();
        }
        DepthwiseDirect direct = new DepthwiseDirect(
                task, task.tables(), task.buffers().argument(0), task.buffers().output());
        String reason = "depthwise: channel by channel, no other schedule fits";
        return Optional.of(new ConvSchedule(direct.body(task.rows()), conv.macsInside(), direct.text(), reason));
    }

    private DepthwiseDirect(ConvTask task, Tables tables, Buffer input, Buffer output) {
        this.conv = task.conv();
        this.isPacked = task.packsWeights();
        this.input = input;
        this.output = output;
        this.weights = isPacked
                ? FourBitWeights.halvesOfTaps(conv, tables)
                : tables.add(
                        "weight", conv.weight().type().dtype(), conv.weight().data());
        this.bias = BiasTable.of(conv, tables);
        this.epilogue = new Epilogue(conv.op(), bias.bound(), tables);
        this.multiplier = conv.channels() / conv.input().dim(3);
    }

    private String text() {
        return "depthwise_direct(unrolled=" + unrolls(conv.window()) + (isPacked ? ", weight_bits=4)" : ")");
    }

    private static boolean unrolls(Window window) {
        return window.kernelH() * window.kernelW() <= MOST_UNROLLED_TAPS;
    }

    private Stmt body(Rows rows) {
        Window w = conv.window();
        BlockBuilder body = new BlockBuilder();
        body.loop(
                "n",
                conv.output().dim(0),
                (batch, n) ->
                        batch.loop("y", rows.firstLine(conv.output()), rows.endLine(conv.output()), 1, (row, y) -> {
                            TapRange ky = TapRange.of(row, "y", y, TapRange.Axis.rows(w, conv.input()));
                            row.loop("x", conv.output().dim(2), (column, x) -> {
                                TapRange kx = TapRange.of(column, "x", x, TapRange.Axis.columns(w, conv.input()));
                                Expr pixel = add(
                                        mul(
                                                add(mul(n, conv.output().dim(1)), rows.outputLine(y)),
                                                conv.output().dim(2)),
                                        x);
                                Expr out = column.let("pixel", mul(pixel, conv.channels()));
                                if (!unrolls(w)) {
                                    windowed(column, rows, n, ky, kx, out);
                                } else if (ky.isWhole() && kx.isWhole()) {
                                    unrolled(column, rows, n, ky, kx, out);
                                } else {
                                    Expr inside = Exprs.and(ky.isWholeAtRunTime(), kx.isWholeAtRunTime());
                                    column.ifThenElse(
                                            inside,
                                            b -> unrolled(b, rows, n, ky, kx, out),
                                            b -> windowed(b, rows, n, ky, kx, out));
                                }
                            });
                        }));
        return body.build();
    }

    /** Every tap written out; the window lies inside the input. */
    private void unrolled(BlockBuilder block, Rows rows, Expr n, TapRange ky, TapRange kx, Expr out) {
        Window w = conv.window();
        int channels = conv.input().dim(3);
        List<Buffer> inputRows = new ArrayList<>();
        for (int k = 0; k < w.kernelH(); k++) {
            Expr row = rows.inputLine(0, add(ky.origin(), (long) k * w.dilationH()));
            inputRows.add(block.view("in" + k, input, mul(pixel(n, row, kx.origin()), channels)));
        }
        channelLoops(block, out, (inner, c, oc, acc) -> {
            for (int k = 0; k < w.kernelH(); k++) {
                for (int j = 0; j < w.kernelW(); j++) {
                    Expr x = load(inputRows.get(k), add(c, (long) j * w.dilationW() * channels));
                    accumulate(inner, acc, x, weight(imm((long) k * w.kernelW() + j), oc));
                }
            }
        });
    }

    /** Loops over the taps inside the input. */
    private void windowed(BlockBuilder block, Rows rows, Expr n, TapRange ky, TapRange kx, Expr out) {
        Window w = conv.window();
        int channels = conv.input().dim(3);
        channelLoops(
                block,
                out,
                (inner, c, oc, acc) -> inner.loop(
                        "ky",
                        ky.begin(),
                        ky.end(),
                        1,
                        (rowBlock, k) -> rowBlock.loop("kx", kx.begin(), kx.end(), 1, (tap, j) -> {
                            Expr row = rows.inputLine(0, add(ky.origin(), mul(k, w.dilationH())));
                            Expr column = add(kx.origin(), mul(j, w.dilationW()));
                            Expr x = load(input, add(mul(pixel(n, row, column), channels), c));
                            Expr position = add(mul(k, w.kernelW()), j);
                            Expr place = isPacked ? tap.let("position", position) : position;
                            accumulate(tap, acc, x, weight(place, oc));
                        })));
    }

    private Expr weight(Expr tap, Expr channel) {
        return isPacked
                ? FourBitWeights.atTap(conv, weights, tap, channel)
                : load(weights, add(mul(tap, conv.channels()), channel));
    }

    private void accumulate(BlockBuilder block, Expr.Var acc, Expr x, Expr weight) {
        Expr centred = conv.isFloat() || bias.isFolded() ? x : sub(x, imm(conv.inputZeroPoint()));
        block.assign(acc, add(acc, cast(acc.dtype(), mul(centred, WeightPacking.centred(conv, weight)))));
    }

    private void channelLoops(BlockBuilder block, Expr out, ChannelBody body) {
        block.loop(
                "c",
                conv.input().dim(3),
                (inner, c) -> inner.loop("m", multiplier, (last, m) -> {
                    Expr oc = last.let("oc", add(mul(c, multiplier), m));
                    Expr.Var acc = last.mutable("acc", load(bias.buffer(), oc));
                    body.emit(last, c, oc, acc);
                    epilogue.store(last, "", acc, oc, output, add(out, oc));
                }));
    }

    /** Adds the taps of one channel to its accumulator. */
    @FunctionalInterface
    private interface ChannelBody {
        void emit(BlockBuilder block, Expr inputChannel, Expr outputChannel, Expr.Var accumulator);
    }

    private Expr pixel(Expr n, Expr row, Expr column) {
        return add(mul(add(mul(n, conv.input().dim(1)), row), conv.input().dim(2)), column);
    }
}
