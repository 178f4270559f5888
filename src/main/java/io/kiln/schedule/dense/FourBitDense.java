// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.kernels.dense.Jtedsp_four_bitsGenerated;
import io.kiln.kernels.dense.Jtefour_bitsGenerated;
import io.kiln.lower.Epilogue;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Fully connected layers whose weights take four bits: a kernel sums the products of a row with four channels at a time, {@code
 * dense/dsp_four_bits} on Cortex-M with the DSP extension and {@code dense/four_bits} elsewhere; a loop rescales the sums.
 *
 * <pre>
 * scratch: a sum for each channel
 * weights: as the kernel reads them, see there; channels beyond the last have weight 0
 * </pre>
 */
final class FourBitDense {
    /** Channels that are computed together. */
    private static final int GROUP = 4;

    private final ConvComputation conv;
    private final boolean hasDsp;
    private final int unroll;
    private final Buffer weights;
    private final Buffer input;
    private final Buffer output;
    private final Buffer sums;
    private final BiasTable bias;
    private final Epilogue epilogue;

    /** @param unroll eights of inputs in a turn of the loop, where the kernel is for the DSP extension */
    FourBitDense(ConvTask task, int unroll) {
        this.conv = task.conv();
        this.unroll = unroll;
        this.hasDsp = task.features().hasDsp();
        this.weights = task.tables().add("weight", INT32, hasDsp ? halfwords() : bytes());
        this.input = task.buffers().argument(0);
        this.output = task.buffers().output();
        this.sums = task.buffers().scratch(INT32, (long) GROUP * groups());
        this.bias = BiasTable.ofFilled(conv, task.tables());
        this.epilogue = new Epilogue(conv.op(), bias.bound(), task.tables());
    }

    private int groups() {
        return (conv.channels() + GROUP - 1) / GROUP;
    }

    /** Weights of a group, by channel. */
    private List<int[]> group(int first) {
        return IntStream.range(first, first + GROUP)
                .mapToObj(c -> c < conv.channels() ? conv.taps(c) : new int[conv.taps()])
                .toList();
    }

    private int[] halfwords() {
        List<Integer> words = new ArrayList<>();
        for (int first = 0; first < conv.channels(); first += GROUP) {
            List<int[]> taps = group(first);
            for (int i = 0; i < conv.taps(); i += 4) {
                for (int k = i; k < i + 2; k++) {
                    words.add(halfword(taps, k) | halfword(taps, k + 2) << Short.SIZE);
                }
            }
        }
        return words.stream().mapToInt(w -> w).toArray();
    }

    /** See {@link FourBitWeights#halfword}; 0 behind the last input, which is multiplied by 0. */
    private static int halfword(List<int[]> taps, int i) {
        return i < taps.get(0).length ? FourBitWeights.halfword(taps, i) : 0;
    }

    private int[] bytes() {
        List<Integer> words = new ArrayList<>();
        for (int first = 0; first < conv.channels(); first += GROUP) {
            List<int[]> taps = group(first);
            for (int i = 0; i < conv.taps(); i += 2) {
                int word = 0;
                for (int c = 0; c < GROUP; c++) {
                    int second = i + 1 < conv.taps() ? taps.get(c)[i + 1] : 0;
                    word |= ((taps.get(c)[i] & 0xF) | (second & 0xF) << 4) << (Byte.SIZE * c);
                }
                words.add(word);
            }
        }
        return words.stream().mapToInt(w -> w).toArray();
    }

    /** The loops. */
    LayerLoops loops(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        body.loop(
                "n",
                conv.output().dim(0),
                (batch, n) -> batch.loop(
                        "y", rows.firstLine(conv.output()), rows.endLine(conv.output()), 1, (row, y) -> row(row, n)));
        long macs = (long) conv.output().dim(0) * GROUP * groups() * conv.taps();
        return new LayerLoops(body.build(), macs);
    }

    private void row(BlockBuilder block, Expr n) {
        Buffer x = block.view("x", input, mul(n, conv.taps()));
        block.call(kernel(), List.of(x, weights, sums), List.of(imm(groups())));
        Expr first = block.let("first", mul(n, conv.channels()));
        block.loop("o", conv.channels(), (channel, o) -> {
            Expr sum = channel.let("sum", add(load(sums, o), load(bias.buffer(), o)));
            epilogue.store(channel, "_out", sum, o, output, add(first, o));
        });
    }

    private Kernel kernel() {
        int inputs = conv.taps();
        String name = "kiln_four_bits_" + inputs + (hasDsp ? "_unroll" + unroll : "");
        return new Kernel(
                name,
                List.of(Pointer.in(INT8), Pointer.in(INT32), Pointer.out(INT32)),
                List.of(INT32),
                List.of(),
                KernelSheet.text((out, html) -> {
                    if (hasDsp) {
                        Jtedsp_four_bitsGenerated.render(out, html, name, inputs, unroll);
                    } else {
                        Jtefour_bitsGenerated.render(out, html, name, inputs);
                    }
                }),
                List.of());
    }
}
