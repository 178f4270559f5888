// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.DspConvSchedule;
import io.kiln.schedule.convolution.DspEpilogue;
import io.kiln.schedule.convolution.DspRequantize;
import io.kiln.schedule.convolution.DspWeights;
import io.kiln.schedule.parts.CrossedProducts;
import io.kiln.schedule.parts.Turns;
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
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/** Dense layers, and convolutions whose window is the whole input, on Cortex-M with the DSP extension. */
public record DspDenseSchedule(String name) implements Schedule<DspRequantize> {
    /** Unrolled steps of four inputs in the innermost loop, if there is no measurement. */
    private static final int UNROLL = 16;

    /** The numbers to choose from where code may have any size. */
    private static final int[] UNROLLS = {2, 4, 8, UNROLL};

    /** Whether two words of weights are loaded by one instruction. */
    private static final String PAIRED = "paired_loads";

    @Override
    public Optional<DspRequantize> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        return workload.features().hasDsp() && workload.isPlainInt8() && suits(conv)
                ? DspRequantize.ofStarted(conv, DspWeights.fitInPairs(conv))
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        return conv.isDense() && conv.taps() >= 4;
    }

    @Override
    public Space space(Workload workload, DspRequantize rescale) {
        Knob block = Knob.of("channel_block", block(rescale));
        Knob paired = Knob.flag(PAIRED, false, true);
        if (workload.codeBytes().isEmpty()) {
            return Space.of(name(), block, Knob.of("unroll", UNROLLS), paired);
        }
        Knob unroll = Knob.of("unroll", IntStream.rangeClosed(2, UNROLL).toArray());
        return Space.of(name(), block, unroll, Knob.flag(Space.SHORT, false, true), paired)
                .where(each -> each.isOn(Space.SHORT) || isUnroll(each.number("unroll")));
    }

    private static boolean isUnroll(int unroll) {
        return IntStream.of(UNROLLS).anyMatch(each -> each == unroll);
    }

    /** Of a block of channels. */
    @Override
    public long loopEnds(Workload workload, DspRequantize rescale, Configuration configuration) {
        int steps = workload.conv().taps() / 4;
        int unroll = configuration.number("unroll");
        return configuration.isOn(Space.SHORT) && steps > unroll
                ? Turns.of(steps, unroll).cycles(steps)
                : Turns.END * (long) (steps / unroll);
    }

    /** Channels of a block. */
    private static int block(DspRequantize rescale) {
        return rescale.isSummed() ? 8 : 4;
    }

    @Override
    public LayerLoops lower(ConvTask task, DspRequantize rescale, Configuration configuration) {
        int block = configuration.number("channel_block");
        int unroll = configuration.number("unroll");
        return new Loops(task, rescale, block, unroll, configuration.isOn(Space.SHORT), configuration.isOn(PAIRED))
                .loops();
    }

    /** Unless size is optimized. */
    public Optional<Choice<DspRequantize>> choose(Workload workload) {
        return workload.isForSize() ? Optional.empty() : applies(workload).map(this::choice);
    }

    private Choice<DspRequantize> choice(DspRequantize rescale) {
        Configuration configuration =
                Configuration.of(name()).with("channel_block", block(rescale)).with("unroll", UNROLL);
        return new Choice<>(this, rescale, configuration, DspConvSchedule.reason(rescale));
    }

    /**
     * Fully connected layers, and convolutions whose window is the whole input, on Cortex-M with the DSP extension: blocks
     * of eight channels of {@link DspDenseKernel}, then one of the remaining channels.
     *
     * <pre>
     * scratch: none
     * weights: per block where sums start; [four inputs][channel pair], two weights a halfword; the constants of the channels. The first blocks of a
     *          large table lie apart where flash waits
     * </pre>
     */
    private static final class Loops extends LayerCode {
        /** Where flash waits, the first blocks of a table several times as large are a table of their own, which spare RAM has room for. */
        private static final int HEAD_BYTES = 12 * 1024;

        private static final int LARGE = 4 * HEAD_BYTES;

        private final DspRequantize rescale;
        private final int block;
        private final int unroll;
        private final boolean isRolled;
        private final boolean isPaired;
        private final int head;
        private final List<Buffer> weights = new ArrayList<>();

        LayerLoops loops() {
            long macs = (long) conv.output().dim(0) * conv.channels() * ((conv.taps() + 3L) / 4 * 4);
            return new LayerLoops(body(), macs);
        }

        /**
         * Packs weights.
         *
         * @param block number of channels computed together
         * @param unroll number of unrolled steps of four inputs in the innermost loop
         * @param isShort whether code is {@linkplain io.kiln.schedule.space.Space#SHORT short}
         * @param isPaired see {@link DspDenseKernel}
         */
        Loops(ConvTask task, DspRequantize rescale, int block, int unroll, boolean isShort, boolean isPaired) {
            super(task);
            Tables tables = task.tables();
            this.rescale = rescale;
            this.block = block;
            this.unroll = unroll;
            this.isRolled = isShort;
            this.isPaired = isPaired;
            int[] packed = packWeights();
            int headWords = HEAD_BYTES / Integer.BYTES / blockWords() * blockWords();
            boolean hasHead = isShort && packed.length * Integer.BYTES > LARGE && headWords > 0;
            this.head = hasHead ? headWords / blockWords() : 0;
            if (hasHead) {
                weights.add(tables.add("weight_head", DType.INT32, Arrays.copyOf(packed, headWords)));
            }
            int[] rest = Arrays.copyOfRange(packed, hasHead ? headWords : 0, packed.length);
            weights.add(tables.add("weight", DType.INT32, rest));
        }

        private int[] packWeights() {
            List<Integer> words = new ArrayList<>();
            for (int first = 0; first < conv.channels(); first += block) {
                packBlock(first, Math.min(first + block, conv.channels()), words);
            }
            return words.stream().mapToInt(Integer::intValue).toArray();
        }

        private void packBlock(int first, int end, List<Integer> words) {
            boolean isSummed = rescale.isSummed();
            putStarts(first, end - first, words);
            List<int[]> taps = new ArrayList<>();
            for (int o = first; o < end; o++) {
                taps.add(conv.taps(o));
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
                rescale.put(o, words);
            }
        }

        /** Where the sums of a block start. */
        private void putStarts(int first, int channels, List<Integer> words) {
            Set<Integer> crossed = new HashSet<>();
            if (isCrossed(channels)) {
                DspDenseKernel.crossed(channels, rescale.isSummed()).forEach(crossed::add);
            }
            for (int c = 0; c < channels; c++) {
                int start = start(first, c, channels);
                if (crossed.contains(c)) {
                    words.add(start - CrossedProducts.of(conv.taps(first + c)));
                } else if (rescale.isStarted()) {
                    words.add(start);
                }
            }
        }

        /** Where the sum of a channel starts; that of the first of two whose weights are packed as sums has both biases. */
        private int start(int first, int c, int channels) {
            if (!rescale.isStarted()) {
                return 0;
            }
            int own = rescale.starts().get(first + c);
            if (!rescale.isSummed() || c % 2 == 1) {
                return own;
            }
            int next = c + 1 < channels ? rescale.starts().get(first + c + 1) : 0;
            return (own << DspRequantize.LEAST_SCALE_BITS) + next;
        }

        /** Words of a block of the usual number of channels. */
        private int blockWords() {
            return firstWords(block) + (conv.taps() + 3) / 4 * block + block * rescale.constantsPerChannel();
        }

        /** Number of blocks of so many channels. */
        private int blocks(int channels) {
            return channels == block ? conv.channels() / block : 1;
        }

        /** Words of a block before its weights. */
        private int firstWords(int channels) {
            return rescale.isStarted()
                    ? channels
                    : isCrossed(channels)
                            ? (int) DspDenseKernel.crossed(channels, rescale.isSummed())
                                    .count()
                            : 0;
        }

        /**
         * Whether the kernel adds inputs to weights: that saves a cycle for each such sum in each step of four inputs. The products of the inputs take
         * about six cycles a step, and the start of a block's sums two cycles a sum and three more.
         */
        private boolean isCrossed(int channels) {
            long steps = conv.taps() / 4;
            long sums = DspDenseKernel.crossed(channels, rescale.isSummed()).count();
            return blocks(channels) * (steps * sums - 2 * sums - 3) > 6 * steps + 10;
        }

        private Stmt body() {
            int whole = blocks(block);
            int rest = conv.channels() % block;
            BlockBuilder body = new BlockBuilder();
            rows.eachLine(body, conv.output(), (row, n, y) -> {
                Buffer x = row.view("x", input, mul(n, conv.taps()));
                if (head > 0) {
                    call(row, x, n, new Blocks("_head", weights.get(0), 0, 0, head, block));
                }
                Buffer behind = weights.get(weights.size() - 1);
                if (whole > head) {
                    call(row, x, n, new Blocks("", behind, head, 0, whole - head, block));
                }
                if (rest > 0) {
                    call(row, x, n, new Blocks(whole > 0 ? "_rest" : "", behind, whole, whole - head, 1, rest));
                }
            });
            return body.build();
        }

        /** Blocks that one call computes: the first one's place in the output and in its table, how many, and channels of each. */
        private record Blocks(String suffix, Buffer weights, int first, int packed, int count, int channels) {}

        private void call(BlockBuilder body, Buffer x, Expr n, Blocks blocks) {
            int channels = blocks.channels;
            Buffer w = body.view("w" + blocks.suffix, blocks.weights, imm((long) blocks.packed * blockWords()));
            Expr place = add(mul(n, conv.channels()), (long) blocks.first * block);
            Buffer out = body.mutableView("out" + blocks.suffix, output, place);
            List<Expr> scalars = new ArrayList<>(List.of(imm(blocks.count)));
            DspDenseKernel kernel = new DspDenseKernel(
                    channels, conv.taps(), unroll, isRolled, isPaired, isCrossed(channels), DspEpilogue.of(rescale));
            scalars.addAll(kernel.epilogue().arguments());
            body.call(kernel.kernel(), List.of(x, w, out), scalars);
        }
    }
}
