// SPDX-License-Identifier: Apache-2.0
package io.kiln.draw;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Seeded choices: what every draw of a function, of a TensorFlow Lite or of an ONNX model is made by. The same seed chooses the same. */
public class Choices {
    protected final Random random;

    /** Choices of seeds that follow each other have nothing in common: the first ones of {@link Random} would be nearly the same. */
    protected Choices(long seed) {
        this(new Random(seed * 0x9E3779B97F4A7C15L + 1));
        random.nextLong();
    }

    protected Choices(Random random) {
        this.random = random;
    }

    /** An integer from 0 on that is less than the bound. */
    public final int below(int bound) {
        return random.nextInt(bound);
    }

    /** An integer from 1 to the most, both included. */
    public final int upTo(int most) {
        return 1 + below(most);
    }

    /** An integer between two, both included. */
    public final int between(int low, int high) {
        return low + below(high - low + 1);
    }

    public final boolean coin() {
        return random.nextBoolean();
    }

    /** One of some values, with the same chance for each. */
    public final <T> T oneOf(List<T> choices) {
        return choices.get(below(choices.size()));
    }

    /** The values in another order. */
    public final <T> List<T> shuffled(List<T> values) {
        List<T> shuffled = new ArrayList<>(values);
        Collections.shuffle(shuffled, random);
        return shuffled;
    }

    public final byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }
}
