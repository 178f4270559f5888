// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import io.kiln.lower.StepwiseRequantize;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.FoldedSums;
import io.kiln.schedule.parts.CrossedProducts;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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
                                sums.bounds().stream().mapToLong(b -> b).max().orElse(0),
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
        List<List<Integer>> constants = channels.stream().map(this::constants).toList();
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
