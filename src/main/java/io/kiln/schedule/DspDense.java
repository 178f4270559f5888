// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.ConvComputation;
import io.kiln.lower.OperatorBuffers;
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
 * Fully connected layers, and convolutions whose window is the whole input, on Cortex-M with the DSP extension: blocks of eight
 * channels of {@link DspDenseKernel}, then one of what is left.
 *
 * <pre>
 * scratch: none
 * weights: per block [four inputs][channel pair], then the constants of the channels; two weights a halfword
 * </pre>
 */
final class DspDense {
    /** Steps of four inputs written out in the innermost loop. */
    private static final int UNROLL = 4;

    private final Plan plan;
    private final ConvComputation conv;
    private final Buffer weights;
    private final Buffer input;
    private final Buffer output;
    /** A schedule that is proven to suit. */
    private record Plan(ConvComputation conv, DspRescale rescale) {
        String text() {
            return "dsp_dense(channel_block=" + block() + ", unroll=" + UNROLL + ")";
        }

        /** Channels of a block. */
        int block() {
            return rescale.isSummed() ? 8 : 4;
        }

        /** Multiply-accumulates that the kernels execute. */
        long executedMacs() {
            return (long) conv.output().dim(0) * conv.channels() * ((conv.taps() + 3L) / 4 * 4);
        }
    }

    /** The schedule, where it suits. */
    static Optional<ConvSchedule> schedule(ConvTask task) {
        ConvComputation conv = task.conv();
        if (!task.features().hasDsp() || task.isForSize() || !suits(conv)) {
            return Optional.empty();
        }
        return DspRescale.of(conv, DspWeights.fitInPairs(conv))
                .map(rescale -> new Plan(conv, rescale))
                .map(plan -> {
                    Stmt body = new DspDense(plan, task.tables(), task.buffers()).body(task.rows());
                    return new ConvSchedule(body, plan.executedMacs(), plan.text(), DspConv.REASON);
                });
    }

    private static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        boolean isInt8 = conv.weight().type().dtype() == DType.INT8
                && conv.op().rootTypes().get(0).dtype() == DType.INT8;
        boolean isWhole = w.kernelH() == conv.input().dim(1)
                && w.kernelW() == conv.input().dim(2)
                && !w.isPadded();
        return isInt8 && conv.groups() == 1 && !conv.depthwise() && isWhole && conv.taps() >= 4;
    }

    private DspDense(Plan plan, Tables tables, OperatorBuffers buffers) {
        this.plan = plan;
        this.conv = plan.conv();
        this.weights = tables.add("weight", DType.INT32, packWeights());
        this.input = buffers.argument(0);
        this.output = buffers.output();
    }

    private int[] packWeights() {
        List<Integer> words = new ArrayList<>();
        for (int first = 0; first < conv.channels(); first += plan.block()) {
            packBlock(first, Math.min(first + plan.block(), conv.channels()), words);
        }
        return words.stream().mapToInt(Integer::intValue).toArray();
    }

    private void packBlock(int first, int end, List<Integer> words) {
        boolean isSummed = plan.rescale().isSummed();
        List<int[]> taps = new ArrayList<>();
        for (int o = first; o < end; o++) {
            taps.add(DspWeights.taps(conv, o));
        }
        if (taps.size() % 2 != 0) {
            taps.add(new int[conv.taps()]);
        }
        for (int i = 0; i < conv.taps(); i += 4) {
            for (int pair = 0; pair < taps.size(); pair += 2) {
                DspWeights.putQuad(taps.get(pair), taps.get(pair + 1), i, 0, isSummed, words);
                DspWeights.putQuad(taps.get(pair), taps.get(pair + 1), i, 1, isSummed, words);
            }
        }
        for (int o = first; o < end; o++) {
            plan.rescale().put(o, words);
        }
    }

    private Stmt body(Rows rows) {
        int whole = conv.channels() / plan.block();
        int rest = conv.channels() % plan.block();
        BlockBuilder body = new BlockBuilder();
        body.loop(
                "n",
                conv.output().dim(0),
                (batch, n) ->
                        batch.loop("y", rows.firstLine(conv.output()), rows.endLine(conv.output()), 1, (row, y) -> {
                            Buffer x = row.view("x", input, mul(n, conv.taps()));
                            if (whole > 0) {
                                call(row, x, n, 0, plan.block(), whole);
                            }
                            if (rest > 0) {
                                call(row, x, n, whole, rest, 1);
                            }
                        }));
        return body.build();
    }

    private void call(BlockBuilder block, Buffer x, Expr n, int firstBlock, int channels, int blocks) {
        String suffix = firstBlock == 0 ? "" : "_rest";
        int fours = (conv.taps() + 3) / 4;
        int blockWords = fours * plan.block() + plan.block() * plan.rescale().constantsPerChannel();
        Buffer w = block.view("w" + suffix, weights, imm((long) firstBlock * blockWords));
        Expr place = add(mul(n, conv.channels()), (long) firstBlock * plan.block());
        Buffer out = block.mutableView("out" + suffix, output, place);
        List<Expr> scalars = new ArrayList<>(List.of(imm(conv.taps()), imm(blocks)));
        DspDenseKernel kernel = DspDenseKernel.of(channels, conv.taps(), UNROLL, plan.rescale());
        scalars.addAll(kernel.epilogue().arguments(plan.rescale()));
        block.call(kernel.kernel(), List.of(x, w, out), scalars);
    }
}
