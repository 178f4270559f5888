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
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerCode;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Dense layers, and convolutions whose window is the whole input, with weights of four bits on cores without vectors. */
public record FourBitDenseSchedule(String name) implements Schedule<ConvComputation> {
    /** Eights of inputs in a turn of the loop. */
    private static final String UNROLL = "unroll";

    private static final int FAST = 4;

    private static final int LEAST_INPUTS = 8;

    /** Up to here, 256 times the sum of the products of bytes with weights from 0 to 15 fits 32 bits. */
    private static final int MOST_INPUTS = 4096;

    /** Fewer channels do not pay for the sum of the inputs. */
    private static final int LEAST_CHANNELS = 8;

    @Override
    public Optional<ConvComputation> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        return workload.isPlainInt8()
                        && !workload.features().hasMve()
                        && suits(conv)
                        && FourBitWeights.fit(conv)
                        && BiasTable.isFoldedIfFilled(conv)
                ? Optional.of(conv)
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        return conv.isDense()
                && conv.kernelZeroPoint() == 0
                && conv.taps() >= LEAST_INPUTS
                && conv.taps() <= MOST_INPUTS;
    }

    @Override
    public Space space(Workload workload, ConvComputation conv) {
        return Space.of(name(), workload.features().hasDsp() ? Knob.of(UNROLL, 1, 2, FAST) : Knob.of(UNROLL, 1));
    }

    @Override
    public LayerLoops lower(ConvTask task, ConvComputation conv, Configuration configuration) {
        return new Loops(task, configuration.number(UNROLL)).loops();
    }

    private Configuration configuration(Workload workload) {
        boolean isFast = workload.features().hasDsp() && !workload.isForSize();
        return Configuration.of(name()).with(UNROLL, isFast ? FAST : 1);
    }

    /** Wherever it applies, except for a few channels: half the flash for hardly more time than bytes take. */
    public Optional<Choice<ConvComputation>> choose(Workload workload) {
        return applies(workload)
                .filter(conv -> conv.channels() >= LEAST_CHANNELS)
                .map(conv -> new Choice<>(
                        this, conv, configuration(workload), "two weights to a byte, multiplied where they lie"));
    }

    /**
     * Fully connected layers whose weights take four bits: a kernel sums the products of a row with four channels at a time, {@code
     * dense/dsp_four_bits} on Cortex-M with the DSP extension and {@code dense/four_bits} elsewhere; a loop rescales the sums.
     *
     * <pre>
     * scratch: a sum for each channel
     * weights: as the kernel reads them, see there; channels beyond the last have weight 0
     * </pre>
     */
    private static final class Loops extends LayerCode {
        /** Channels that are computed together. */
        private static final int GROUP = 4;

        private final boolean hasDsp;
        private final int unroll;
        private final Buffer weights;
        private final Buffer sums;
        private final BiasTable bias;
        private final Epilogue epilogue;

        /** @param unroll eights of inputs in a turn of the loop, where the kernel is for the DSP extension */
        Loops(ConvTask task, int unroll) {
            super(task);
            this.unroll = unroll;
            this.hasDsp = task.features().hasDsp();
            this.weights = task.tables().add("weight", INT32, hasDsp ? halfwords() : bytes());
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

        LayerLoops loops() {
            BlockBuilder body = new BlockBuilder();
            rows.eachLine(body, conv.output(), (row, n, y) -> row(row, n));
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
            return Kernel.of(name, Pointer.lastWritten(INT8, INT32, INT32), 1, (out, html) -> {
                if (hasDsp) {
                    Jtedsp_four_bitsGenerated.render(out, html, name, inputs, unroll);
                } else {
                    Jtefour_bitsGenerated.render(out, html, name, inputs);
                }
            });
        }
    }
}
