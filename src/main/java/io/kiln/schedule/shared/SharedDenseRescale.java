// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.shared;

import io.kiln.lower.StepwiseRescale;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.FoldedSums;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The rescaling of a dense layer in the reference's own steps. If the weights have one scale, all channels share multiplier, offset and
 * shift, so that a channel takes only the four bytes of its bias. Constants that are proven channel by channel take eight or more.
 *
 * @param steps rounded, of sums that are scaled by 2
 * @param isSummed whether 256 times a sum fits 32 bits
 * @param low least result
 * @param high largest result
 */
record SharedDenseRescale(StepwiseRescale steps, boolean isSummed, int low, int high) {
    /** 256 times such a sum fits 32 bits. */
    private static final long MOST = Integer.MAX_VALUE >> 8;

    /** The rescaling; empty if the operator has none, or its steps or sums are not of this kind. */
    static Optional<SharedDenseRescale> of(ConvComputation conv) {
        return FoldedSums.of(conv)
                .flatMap(sums -> StepwiseRescale.of(sums.reference(), sums.bounds())
                        .filter(StepwiseRescale::isRounded)
                        .map(steps -> new SharedDenseRescale(
                                steps,
                                sums.bounds().stream().allMatch(bound -> bound <= MOST),
                                sums.low(),
                                sums.high())));
    }

    /** The scaled number that the kernel adds to a channel's sum. */
    List<Integer> bias(int channel) {
        return List.of(steps.channels().get(channel).bias());
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
        StepwiseRescale.Channel c = steps.channels().get(channel);
        return List.of(c.multiplier(), c.offset(), c.shift());
    }
}
