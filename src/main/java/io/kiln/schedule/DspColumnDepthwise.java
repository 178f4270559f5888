// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.lower.ConvComputation;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Depthwise convolution over time, one column wide and without padding, on Cortex-M with the DSP extension: two rows of the output at
 * a time, which share inputs and weights, by {@link DspColumnKernel}.
 *
 * <pre>
 * scratch: none
 * weights: per block of four channels [tap][channels 0 and 2, channels 1 and 3], 16 bits each, then the constants of the channels
 * left over: an odd row alone; channels that are no multiple of four in a block that lies over the one before
 * </pre>
 */
final class DspColumnDepthwise {
    private static final int BLOCK = 4;
    /** What immediate offsets reach. */
    private static final int REACH = 4095;

    private final ConvComputation conv;
    private final DspRescale rescale;
    private final Buffer input;
    private final Buffer output;
    private final Buffer weights;

    private DspColumnDepthwise(ConvComputation conv, DspRescale rescale, Tables tables, OperatorBuffers buffers) {
        this.conv = conv;
        this.rescale = rescale;
        this.input = buffers.argument(0);
        this.output = buffers.output();
        this.weights = tables.add("weight", DType.INT32, pack());
    }

    /** The schedule, where it suits: rows must follow each other in memory. */
    static Optional<ConvSchedule> schedule(ConvTask task) {
        ConvComputation conv = task.conv();
        boolean isWhole = task.rows().parameters().isEmpty() && task.rows().areContiguous();
        if (!task.features().hasDsp() || task.isForSize() || !isWhole || !suits(conv)) {
            return Optional.empty();
        }
        return DspRescale.of(conv, true).map(rescale -> {
            DspColumnDepthwise column = new DspColumnDepthwise(conv, rescale, task.tables(), task.buffers());
            int rows = together(conv);
            long channels = (conv.channels() + BLOCK - 1L) / BLOCK * BLOCK;
            long macs = conv.output().elements() / conv.channels() * channels * conv.taps();
            String text = "dsp_depthwise_column(rows=" + rows + ", channel_block=" + BLOCK + ")";
            String reason = "depthwise over time: four channels share a load, rows share inputs and weights";
            return new ConvSchedule(column.body(), macs, text, reason);
        });
    }

    private static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        boolean isInt8 = conv.weight().type().dtype() == DType.INT8
                && conv.op().rootTypes().get(0).dtype() == DType.INT8
                && conv.kernelZeroPoint() == 0;
        return isInt8
                && conv.depthwise()
                && conv.channels() == conv.input().dim(3)
                && conv.channels() >= BLOCK
                && conv.channels() + BLOCK <= REACH
                && conv.output().dim(2) == 1
                && w.kernelW() == 1
                && !w.isPadded()
                && (long) w.kernelH() * w.dilationH() * rowElements(conv) <= REACH;
    }

    /** Rows of the output that share inputs: they must follow each other by one row of the input. */
    private static int together(ConvComputation conv) {
        Window w = conv.window();
        return w.strideH() == 1 && w.dilationH() == 1 && conv.output().dim(1) > 1 ? 2 : 1;
    }

    private static int rowElements(ConvComputation conv) {
        return conv.input().dim(2) * conv.channels();
    }

    private int[] pack() {
        List<Integer> words = new ArrayList<>();
        for (int first = 0; first < conv.channels(); first += BLOCK) {
            int o = Math.min(first, conv.channels() - BLOCK);
            for (int ky = 0; ky < conv.window().kernelH(); ky++) {
                words.add(word(o, ky));
                words.add(word(o + 1, ky));
            }
            for (int c = o; c < o + BLOCK; c++) {
                rescale.put(c, words);
            }
        }
        return words.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Weights of a channel and the next but one. */
    private int word(int channel, int ky) {
        int scale = rescale.isSummed() ? DspRescale.LEAST_SCALE_BITS : 0;
        int low = conv.tap(channel, ky, 0, 0) << scale;
        int high = conv.tap(channel + 2, ky, 0, 0) << scale;
        return (low & 0xFFFF) | (high << 16);
    }

    private Stmt body() {
        BlockBuilder body = new BlockBuilder();
        int height = conv.output().dim(1);
        int together = together(conv);
        body.loop("n", conv.output().dim(0), (batch, n) -> {
            batch.loop(
                    "y",
                    imm(0),
                    imm((long) height / together * together),
                    together,
                    (b, y) -> rows(b, "", n, y, together));
            if (height % together != 0) {
                rows(batch, "_last", n, imm(height - 1L), 1);
            }
        });
        return body.build();
    }

    /** Some rows of the output that follow each other. */
    private void rows(BlockBuilder block, String suffix, Expr n, Expr y, int count) {
        Window w = conv.window();
        Expr top = add(mul(n, conv.input().dim(1)), mul(y, w.strideH()));
        Expr from = mul(top, rowElements(conv));
        Expr to = mul(add(mul(n, conv.output().dim(1)), y), conv.channels());
        int whole = conv.channels() / BLOCK;
        call(block, suffix, from, to, weights, count, whole);
        if (conv.channels() % BLOCK != 0) {
            int channel = conv.channels() - BLOCK;
            Buffer rest = block.view("rest" + suffix, weights, imm(weights.elements() / (whole + 1) * whole));
            call(block, "_rest" + suffix, add(from, channel), add(to, channel), rest, count, 1);
        }
    }

    private void call(BlockBuilder block, String suffix, Expr from, Expr to, Buffer w, int count, int blocks) {
        Window window = conv.window();
        DspColumnKernel kernel = new DspColumnKernel(
                window.kernelH(),
                window.dilationH() * rowElements(conv),
                conv.channels(),
                count,
                DspEpilogue.of(rescale));
        Buffer in = block.view("in" + suffix, input, from);
        Buffer out = block.mutableView("out" + suffix, output, to);
        List<Expr> scalars = new ArrayList<>(List.of(imm(blocks)));
        scalars.addAll(kernel.epilogue().arguments(rescale));
        block.call(kernel.kernel(), List.of(in, w, out), scalars);
    }
}
