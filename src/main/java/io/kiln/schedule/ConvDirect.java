// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Optimize;
import io.kiln.ir.op.Window;
import io.kiln.lower.BiasTable;
import io.kiln.lower.ConvComputation;
import io.kiln.lower.Epilogue;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.TapRange;
import io.kiln.lower.Upsampling;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Direct convolution for any core: for each pixel, blocks of output channels whose accumulators stay in registers.
 *
 * <pre>
 * registers (block of 4): 4 accumulators, 1 input value, 1 weight, pointers to input and weights, count
 * weights: per block [ky][kx][c][channel of the block], so that one pointer walks through them
 * memory: no scratch
 * </pre>
 *
 * <p>Taps outside the input are left out by narrowing the window's range for each row and column; what remains of a
 * window row is contiguous in the input unless the width is dilated or the convolution grouped.
 */
final class ConvDirect {
    private final ConvComputation conv;
    private final Knobs knobs;
    private final Tables tables;
    private final Buffer input;
    private final Buffer output;
    private final BiasTable bias;
    private final Epilogue epilogue;

    /**
     * The schedule's explicit values.
     *
     * @param channelBlock output channels computed together
     * @param unroll steps of the innermost loop written out
     */
    private record Knobs(int channelBlock, int unroll) {
        String text() {
            return "conv_direct(channel_block=" + channelBlock + ", unroll=" + unroll + ")";
        }
    }

    /** The schedule, which suits any convolution but depthwise ones. */
    static Optional<ConvSchedule> schedule(ConvTask task) {
        ConvComputation conv = task.conv();
        Knobs knobs = defaultKnobs(conv, task.features(), task.optimize());
        ConvDirect direct = new ConvDirect(
                conv,
                knobs,
                task.tables(),
                task.buffers().argument(0),
                task.buffers().output());
        String reason = "no micro-kernel for this core and shape: portable loops";
        return Optional.of(new ConvSchedule(direct.body(task.rows()), conv.macsInside(), knobs.text(), reason));
    }

    private ConvDirect(ConvComputation conv, Knobs knobs, Tables tables, Buffer input, Buffer output) {
        this.conv = conv;
        this.knobs = knobs;
        this.tables = tables;
        this.input = input;
        this.output = output;
        this.bias = BiasTable.of(conv, tables);
        this.epilogue = new Epilogue(conv.op(), bias.bound(), tables);
    }

    /**
     * Knobs that fit a convolution and a CPU: blocks never straddle groups, and the unrolling divides a run of channels.
     * Counted on the MLPerf Tiny keyword model: on Cortex-M blocks of 2 and 3 cost more than 4 (16-bit Thumb too), on
     * RISC-V 8 costs 14 % more than 4, on x86-64 4 costs 4 % more than 8.
     */
    private static Knobs defaultKnobs(ConvComputation conv, CpuFeatures features, Optimize optimize) {
        boolean small =
                features.family() == CpuFeatures.Family.CORTEX_M || features.family() == CpuFeatures.Family.RISCV;
        int most = optimize == Optimize.SIZE ? 2 : small ? 4 : 8;
        int perGroup = conv.channels() / conv.groups();
        int block = conv.groups() == 1 ? Math.min(most, perGroup) : largestDivisor(perGroup, most);
        return new Knobs(block, largestDivisor(conv.channelsPerGroup(), optimize == Optimize.SIZE ? 1 : 4));
    }

    static int largestDivisor(int value, int atMost) {
        int divisor = atMost;
        while (value % divisor != 0) {
            divisor--;
        }
        return divisor;
    }

    private Stmt body(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        List<ChannelBlocks> blocks = packWeights();
        Upsampling up = conv.upsampling();
        body.loop(
                "n",
                conv.output().dim(0),
                (batch, n) ->
                        batch.loop("y", rows.firstLine(conv.output()), rows.endLine(conv.output()), 1, (row, y) -> {
                            Window w = conv.window();
                            TapRange ky = TapRange.of(
                                    row, "y", row.let("position_y", up.row(y)), TapRange.Axis.rows(w, conv.input()));
                            row.loop("x", conv.output().dim(2), (column, x) -> {
                                TapRange kx = TapRange.of(
                                        column,
                                        "x",
                                        column.let("position_x", up.column(x)),
                                        TapRange.Axis.columns(w, conv.input()));
                                Expr pixel = add(
                                        mul(
                                                add(mul(n, conv.output().dim(1)), rows.outputLine(y)),
                                                conv.output().dim(2)),
                                        x);
                                Expr out = column.let("pixel", mul(pixel, conv.channels()));
                                Expr phase = column.let("phase", up.phase(y, x));
                                for (ChannelBlocks block : blocks) {
                                    channelLoop(column, rows, block, phase, n, ky, kx, out);
                                }
                            });
                        }));
        return body.build();
    }

    /** Channels {@code [begin, end)} in blocks of one width, and the table of their weights. */
    private record ChannelBlocks(int begin, int end, int width, Buffer weights) {}

    private List<ChannelBlocks> packWeights() {
        int channels = conv.channels();
        int whole = channels / knobs.channelBlock() * knobs.channelBlock();
        List<ChannelBlocks> blocks = new ArrayList<>();
        if (whole > 0) {
            blocks.add(pack("weight", 0, whole, knobs.channelBlock()));
        }
        if (whole < channels) {
            blocks.add(pack("weight_rest", whole, channels, channels - whole));
        }
        return blocks;
    }

    private ChannelBlocks pack(String name, int begin, int end, int width) {
        int phases = conv.upsampling().phases();
        WeightPacking packing = new WeightPacking(conv, phases * (end - begin) * conv.taps());
        for (int phase = 0; phase < phases; phase++) {
            putAll(packing, phase * conv.channels() + begin, phase * conv.channels() + end, width);
        }
        return new ChannelBlocks(begin, end, width, packing.table(name, tables));
    }

    private void putAll(WeightPacking packing, int begin, int end, int width) {
        for (int first = begin; first < end; first += width) {
            for (int ky = 0; ky < conv.window().kernelH(); ky++) {
                for (int kx = 0; kx < conv.window().kernelW(); kx++) {
                    for (int c = 0; c < conv.channelsPerGroup(); c++) {
                        for (int o = first; o < first + width; o++) {
                            packing.put(o, ky, kx, c);
                        }
                    }
                }
            }
        }
    }

    private void channelLoop(
            BlockBuilder block,
            Rows rows,
            ChannelBlocks blocks,
            Expr phase,
            Expr n,
            TapRange ky,
            TapRange kx,
            Expr out) {
        block.loop("oc", imm(blocks.begin()), imm(blocks.end()), blocks.width(), (inner, oc) -> {
            List<Expr.Var> accumulators = new ArrayList<>();
            for (int i = 0; i < blocks.width(); i++) {
                accumulators.add(inner.mutable("acc" + i, load(bias.buffer(), add(oc, i))));
            }
            inner.loop(
                    "ky",
                    ky.begin(),
                    ky.end(),
                    1,
                    (rowBlock, k) -> windowRow(
                            rowBlock,
                            blocks,
                            add(mul(phase, blocks.end() - blocks.begin()), oc),
                            oc,
                            n,
                            rows.inputLine(
                                    0, add(ky.origin(), mul(k, conv.window().dilationH()))),
                            k,
                            kx,
                            accumulators));
            for (int i = 0; i < blocks.width(); i++) {
                Expr channel = add(oc, i);
                epilogue.store(inner, String.valueOf(i), accumulators.get(i), channel, output, add(out, channel));
            }
        });
    }

    /** One row of the window: a single run where taps are neighbours in memory, else a run for each tap. */
    private void windowRow(
            BlockBuilder block,
            ChannelBlocks blocks,
            Expr kernel,
            Expr oc,
            Expr n,
            Expr inputRow,
            Expr ky,
            TapRange kx,
            List<Expr.Var> accumulators) {
        Window w = conv.window();
        int run = conv.channelsPerGroup();
        Expr rowStart =
                mul(add(mul(n, conv.input().dim(1)), inputRow), conv.input().dim(2));
        Expr blockStart = mul(sub(kernel, imm(blocks.begin())), conv.taps());
        boolean contiguous = conv.groups() == 1 && (w.dilationW() == 1 || w.kernelW() == 1);
        if (contiguous) {
            Expr first = add(rowStart, add(kx.origin(), kx.begin()));
            Expr tap = add(mul(ky, w.kernelW()), kx.begin());
            Buffer in = block.view("in", input, mul(first, run));
            Buffer weights = block.view("w", blocks.weights(), add(blockStart, mul(tap, (long) run * blocks.width())));
            dotProduct(block, in, weights, mul(kx.count(), run), blocks.width(), accumulators);
            return;
        }
        Expr group = Exprs.div(oc, imm(conv.channels() / conv.groups()));
        block.loop("kx", kx.begin(), kx.end(), 1, (tapBlock, k) -> {
            Expr pixel = add(rowStart, add(kx.origin(), mul(k, w.dilationW())));
            Expr first = add(mul(pixel, conv.input().dim(3)), mul(group, run));
            Buffer in = tapBlock.view("in", input, first);
            Expr tap = add(mul(ky, w.kernelW()), k);
            Buffer weights =
                    tapBlock.view("w", blocks.weights(), add(blockStart, mul(tap, (long) run * blocks.width())));
            dotProduct(tapBlock, in, weights, imm(run), blocks.width(), accumulators);
        });
    }

    private void dotProduct(
            BlockBuilder block, Buffer in, Buffer weights, Expr length, int width, List<Expr.Var> accumulators) {
        block.loop("i", imm(0), length, knobs.unroll(), (step, i) -> {
            for (int u = 0; u < knobs.unroll(); u++) {
                Expr value = load(in, add(i, u));
                if (!conv.isFloat() && !bias.isFolded()) {
                    value = sub(value, imm(conv.inputZeroPoint()));
                }
                Expr x = step.let("x" + u, value);
                for (int o = 0; o < width; o++) {
                    Expr weight = load(weights, add(mul(i, width), (long) u * width + o));
                    Expr.Var acc = accumulators.get(o);
                    step.assign(acc, add(acc, cast(acc.dtype(), mul(x, WeightPacking.centred(conv, weight)))));
                }
            }
        });
    }
}
