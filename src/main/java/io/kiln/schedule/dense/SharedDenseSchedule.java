// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.kernels.dense.Jtedsp_sharedGenerated;
import io.kiln.lower.StepwiseRequantize;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.FoldedSums;
import io.kiln.schedule.convolution.SharedWeights;
import io.kiln.schedule.parts.CrossedProducts;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerCode;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Dense layers, and convolutions whose window is the whole input, on Cortex-M with the DSP extension by one kernel for all of them, {@link Loops}. */
public record SharedDenseSchedule(String name) implements Schedule<SharedDenseSchedule.SharedDenseRequantize> {
    /** Smaller layers do not use the kernel: if it serves only one layer of an image, the saved cycles do not justify its code size. */
    private static final long LEAST_MACS = 5000;

    @Override
    public Optional<SharedDenseRequantize> applies(Workload workload) {
        return suits(workload) ? SharedDenseRequantize.of(workload.conv()) : Optional.empty();
    }

    private static boolean suits(Workload workload) {
        ConvComputation conv = workload.conv();
        return workload.features().hasDsp()
                && workload.isPlainInt8()
                && conv.weight().type().dtype() == DType.INT8
                && conv.op().rootTypes().get(0).dtype() == DType.INT8
                && conv.isDense()
                && conv.taps() >= SharedWeights.STEP
                && conv.channels() >= SharedDenseKernel.BLOCK;
    }

    @Override
    public LayerLoops lower(ConvTask task, SharedDenseRequantize rescale, Configuration configuration) {
        return new Loops(task, rescale).loops();
    }

    /** If size is optimized, except for small layers and for weights that are packed two to a byte. */
    public Optional<Choice<SharedDenseRequantize>> choose(Workload workload) {
        boolean isSmall = workload.macs() < LEAST_MACS;
        if (!workload.isForSize() || workload.features().hasMve() || isSmall || FourBitWeights.pack(workload)) {
            return Optional.empty();
        }
        String reason = "size: one kernel with SIMD for all dense layers";
        return applies(workload).map(rescale -> new Choice<>(this, rescale, Configuration.of(name()), reason));
    }

    /**
     * A dense layer, or a convolution whose window is the whole input, as one call of {@link SharedDenseKernel}, with a
     * small table of the layer's parameters.
     * There is no scratch.
     */
    private static final class Loops extends LayerCode {
        private static final int BLOCK = SharedDenseKernel.BLOCK;

        private final SharedWeights packed;
        private final Kernel kernel;
        private final Buffer weights;
        private final Buffer layer;

        /** Packs weights. */
        Loops(ConvTask task, SharedDenseRequantize rescale) {
            super(task);
            Tables tables = task.tables();
            this.packed = SharedWeights.ofRow(conv, BLOCK);
            boolean isSummed = packed.fit() && rescale.holds(mostProducts());
            this.kernel = new SharedDenseKernel(isSummed).kernel();
            this.weights = tables.add("weight", DType.INT32, packWeights(rescale, isSummed));
            this.layer = tables.add("layer", DType.INT32, layer(rescale));
        }

        private long mostProducts() {
            return packed.taps().stream()
                    .mapToLong(taps -> Math.abs((long) CrossedProducts.of(taps)))
                    .max()
                    .orElse(0);
        }

        private int[] packWeights(SharedDenseRequantize rescale, boolean isSummed) {
            return packed.pack(
                    List.of(),
                    (channel, second) -> List.of(rescale.bias(channel)
                            - (isSummed
                                    ? excess(CrossedProducts.of(packed.taps().get(second)), channel == second)
                                    : 0)),
                    isSummed);
        }

        /**
         * By how much the kernel's sum, scaled by 2, is too large because the second channel's sum has its products of weights, too.
         *
         * @param isSecond otherwise the first channel, whose sum is a difference from the second's, divided by 128 and rounded down
         */
        private static int excess(int products, boolean isSecond) {
            return isSecond ? 2 * products : -products >> 7;
        }

        private int[] layer(SharedDenseRequantize rescale) {
            List<Integer> computed = packed.blocks().stream()
                    .flatMap(first -> IntStream.range(first, first + BLOCK).boxed())
                    .toList();
            List<Integer> words = new ArrayList<>(List.of(conv.taps() - SharedWeights.STEP, conv.channels()));
            words.addAll(rescale.words(computed));
            return words.stream().mapToInt(Integer::intValue).toArray();
        }

        LayerLoops loops() {
            int batches = conv.output().dim(0);
            BlockBuilder body = new BlockBuilder();
            rows.eachLine(body, conv.output(), (row, n, y) -> {
                Buffer x = row.view("x", input, mul(n, conv.taps()));
                Buffer out = row.mutableView("out", output, mul(n, conv.channels()));
                row.call(kernel, List.of(x, weights, layer, out), List.of());
            });
            long filled = packed.taps().get(0).length;
            return new LayerLoops(body.build(), (long) batches * packed.blocks().size() * BLOCK * filled);
        }
    }

    /**
     * Any row of inputs times blocks of four channels on Cortex-M with the DSP extension; if weights are summed, with {@link io.kiln.schedule.parts.CrossedProducts}.
     *
     * @param isSummed whether two weights in a halfword are a sum, otherwise two bytes
     */
    private record SharedDenseKernel(boolean isSummed) {
        /** Channels of a block. */
        static final int BLOCK = 4;

        /** {@code (x, w, layer, out)}. */
        Kernel kernel() {
            String name = isSummed ? "kiln_dense" : "kiln_dense_bytes";
            return Kernel.of(
                    name,
                    Pointer.lastWritten(INT8, INT32, INT32, INT8),
                    0,
                    (out, html) -> Jtedsp_sharedGenerated.render(out, html, name, isSummed));
        }
    }

    /**
     * The rescaling of a dense layer in the reference's own steps. If the weights have one scale, all channels share multiplier, offset and
     * shift, so that a channel takes only the four bytes of its bias. Constants that are proven channel by channel take eight or more.
     *
     * @param steps rounded, of sums that are scaled by 2
     * @param most largest magnitude of a sum without its bias
     * @param low least result
     * @param high largest result
     */
    record SharedDenseRequantize(StepwiseRequantize steps, long most, int low, int high) {
        /** The rescaling; empty if the operator has none, or its steps or sums are not of this kind. */
        static Optional<SharedDenseRequantize> of(ConvComputation conv) {
            return FoldedSums.of(conv)
                    .flatMap(sums -> StepwiseRequantize.of(sums.reference(), sums.bounds())
                            .filter(StepwiseRequantize::isRounded)
                            .map(steps -> new SharedDenseRequantize(
                                    steps,
                                    sums.bounds().stream()
                                            .mapToLong(b -> b)
                                            .max()
                                            .orElse(0),
                                    sums.low(),
                                    sums.high())));
        }

        /**
         * Whether 32 bits hold what a kernel computes of weights that are packed as sums: 256 times a sum and some products, and biases and twice the products.
         *
         * @param products the largest magnitude of {@link CrossedProducts} of a channel
         */
        boolean holds(long products) {
            long bias = steps.channels().stream()
                    .mapToLong(c -> Math.abs((long) c.bias()))
                    .max()
                    .orElse(0);
            return 256 * most + 2 * products <= Integer.MAX_VALUE && bias + 2 * products <= Integer.MAX_VALUE;
        }

        /** The scaled number that the kernel adds to a channel's sum. */
        int bias(int channel) {
            return steps.channels().get(channel).bias();
        }

        /**
         * Bytes from the constants of a channel to the next one's; 0 if all have the same; limits; then the constants.
         *
         * @param channels in the order in which they are computed
         */
        List<Integer> words(List<Integer> channels) {
            List<List<Integer>> constants =
                    channels.stream().map(this::constants).toList();
            boolean isCommon = constants.stream().distinct().count() == 1;
            List<Integer> words =
                    new ArrayList<>(List.of(isCommon ? 0 : constants.get(0).size() * Integer.BYTES, low, high));
            constants.stream().limit(isCommon ? 1 : constants.size()).forEach(words::addAll);
            return words;
        }

        private List<Integer> constants(int channel) {
            StepwiseRequantize.Channel c = steps.channels().get(channel);
            return List.of(c.multiplier(), c.offset(), c.shift());
        }
    }
}
