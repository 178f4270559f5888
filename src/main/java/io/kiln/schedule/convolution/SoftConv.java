// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.ArrayList;
import java.util.List;

/**
 * Convolutions and dense layers of float data by {@link SoftKernel}, pixel by pixel and group by group.
 *
 * <pre>
 * weights: see {@link SoftWeights}
 * memory: scratch for the inputs of a window as integers, and for the inputs themselves unless the window is one pixel
 * </pre>
 */
public final class SoftConv {
    private final ConvComputation conv;
    private final SoftGroups groups;
    private final SoftWindow window;
    private final Buffer output;
    private final Buffer bias;
    private final SoftLimits limits;

    private SoftConv(ConvTask task) {
        this.conv = task.conv();
        this.groups = SoftGroups.of(conv);
        this.window = SoftWindow.of(task);
        this.output = task.buffers().output();
        this.limits = SoftLimits.of(conv.op());
        this.bias = bias(conv, task.tables());
    }

    /** The biases of a layer, 0 where there are none. */
    static Buffer bias(ConvComputation conv, Tables tables) {
        float[] starts = new float[conv.channels()];
        for (int o = 0; o < starts.length; o++) {
            int channel = o;
            starts[o] = conv.op().bias().map(b -> b.real(channel)).orElse(0f);
        }
        return tables.add("bias", starts);
    }

    /** The loops of a convolution or dense layer. */
    static LayerLoops dot(ConvTask task, SoftKernel kernel) {
        SoftConv layer = new SoftConv(task);
        ConvComputation conv = task.conv();
        SoftCore core = kernel.core();
        int taps = conv.taps();
        int padded = (taps + kernel.step() - 1) / kernel.step() * kernel.step();
        SoftWeights weights = SoftWeights.of(conv, task.tables(), core.weightBits(taps), kernel.channels(), padded);
        SoftPrecision precision = SoftPrecision.of(core, taps, padded, weights.magnitude());
        int bits = core.inputBits(weights.magnitude());
        Buffer fixed = task.buffers().scratch(DType.INT32, padded + (long) SoftKernel.HEADER);
        List<Expr> fix = List.of(
                imm(taps),
                imm(padded),
                imm(bits),
                imm(precision.factor()),
                imm(precision.shift()),
                imm(precision.least()));
        List<Expr> dot = new ArrayList<>(List.of(
                imm(taps), imm(padded), imm(layer.groups.outputs()), imm(core.unit() - bits - SoftWeights.UNIT)));
        dot.addAll(layer.limits.arguments());
        return layer.loops(task.rows(), (block, in, g, out) -> {
            block.call(kernel.fix(), List.of(in, fixed), fix);
            Buffer table = layer.groups.part(block, weights.table(), g, padded);
            Buffer bias = layer.groups.part(block, layer.bias, g, 1);
            Buffer scale = layer.groups.part(block, weights.scale(), g, 1);
            block.call(kernel.dot(), List.of(in, fixed, table, bias, scale, out), dot);
        });
    }

    /** The loops of a depthwise convolution. */
    public static LayerLoops depthwise(ConvTask task, SoftCore core) {
        SoftConv layer = new SoftConv(task);
        ConvComputation conv = task.conv();
        int channels = conv.channels();
        SoftWeights weights = SoftWeights.of(conv, task.tables(), SoftWeights.MOST_BITS, channels, conv.taps());
        List<Expr> scalars = new ArrayList<>(List.of(imm(conv.taps()), imm(channels)));
        scalars.addAll(layer.limits.arguments());
        return layer.loops(
                task.rows(),
                (block, in, g, out) -> block.call(
                        SoftKernel.depthwise(core),
                        List.of(in, weights.table(), layer.bias, weights.scale(), out),
                        scalars));
    }

    /** Computes all channels of a group of a pixel. */
    private interface Pixel {
        void emit(BlockBuilder block, Buffer in, Expr group, Buffer out);
    }

    private LayerLoops loops(Rows rows, Pixel pixel) {
        return loops(conv, rows, (block, n, y, x) -> {
            SoftWindow.Place place = window.place(block, n, y, x);
            Expr first = pixel(conv, rows, n, y, x);
            groups.emit(block, (each, g) -> {
                Buffer in = window.emit(each, rows, place.from(groups.input(g)));
                pixel.emit(each, in, g, each.mutableView("out", output, add(first, groups.output(g))));
            });
        });
    }

    /** The body of the loops over a layer's pixels. */
    interface PixelBody {
        void emit(BlockBuilder block, Expr n, Expr y, Expr x);
    }

    /** The loops over a layer's pixels. */
    static LayerLoops loops(ConvComputation conv, Rows rows, PixelBody pixel) {
        BlockBuilder body = new BlockBuilder();
        rows.eachLine(
                body,
                conv.output(),
                (row, n, y) -> row.loop("x", conv.output().dim(2), (block, x) -> pixel.emit(block, n, y, x)));
        return new LayerLoops(body.build(), conv.output().elements() * conv.taps());
    }

    /** Where a pixel's channels begin in the output. */
    static Expr pixel(ConvComputation conv, Rows rows, Expr n, Expr y, Expr x) {
        Expr line = add(mul(n, conv.output().dim(1)), rows.outputLine(y));
        return mul(add(mul(line, conv.output().dim(2)), x), conv.channels());
    }
}
