// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Sums of the weights of one output channel, less the zero point.
 *
 * @param sum sum of the weights
 * @param magnitude sum of their magnitudes: an int8 input contributes at most 128 times as much
 */
public record TapSums(long sum, long magnitude) {

    /** The sums of every output channel; for a transposed convolution for each phase. */
    public static List<TapSums> of(ConvComputation conv) {
        return IntStream.range(0, conv.channels() * conv.upsampling().phases())
                .mapToObj(o -> channel(conv, o))
                .toList();
    }

    private static TapSums channel(ConvComputation conv, int o) {
        long sum = 0;
        long magnitude = 0;
        for (int tap : conv.taps(o)) {
            sum += tap;
            magnitude += Math.abs(tap);
        }
        return new TapSums(sum, magnitude);
    }
}
