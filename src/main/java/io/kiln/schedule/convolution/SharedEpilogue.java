// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.schedule.parts.ScalarRequantize;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The conversion of sums to int8 at the end of a block on Cortex-M with the DSP extension.
 *
 * @param rescale the rescaling; its values that differ from layer to layer are given at run time
 */
public record SharedEpilogue(ScalarRequantize rescale) {
    /** Powers of two by which the first of two channels is scaled already. */
    public static final int FREE_BITS = 8;

    /** Part of a kernel's name. */
    public String suffix() {
        return rescale.suffix();
    }

    /** C's names of {@link #header}. */
    public List<String> names() {
        return rescale.parameters().subList(1, rescale.parameters().size());
    }

    /**
     * The words that all channels have in common: the shift and, from bit 8 on, the power of two by which sums are
     * scaled; what the correction needs; limits.
     */
    public List<Integer> header() {
        List<Integer> words = new ArrayList<>(
                List.of(rescale.proven().shift() | rescale.proven().scaleBits() << 8));
        rescale.correction()
                .parameter()
                .ifPresent(p -> words.add(rescale.correction().argument()));
        if (rescale.isLimited()) {
            words.addAll(List.of(rescale.low(), rescale.high()));
        }
        return words;
    }

    /** The constants of a channel. */
    public List<Integer> constants(int channel) {
        return rescale.proven().constants(channel);
    }

    /** Bytes that the assembly moves from the {@linkplain #header common words} to the stack. */
    public int bytes() {
        return Integer.BYTES * names().size();
    }

    /** The registers by which the assembly does that. */
    public String pushed() {
        return IntStream.range(5, 5 + names().size()).mapToObj(r -> "r" + r).collect(Collectors.joining(", "));
    }

    /** Number of constants of each channel. */
    public int constantsPerChannel() {
        return rescale.correction().constants();
    }
}
