// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.base.Bytes;
import java.util.function.Consumer;

/**
 * An operator's random cases.
 *
 * @param name what tests and failures call it
 * @param draw builds a model from one case's random numbers
 * @param allowance by how much an integer of ours may differ from TensorFlow Lite's, 0 or 1; {@link #ANY} if it is not asked
 * @param reason why, if it may differ
 */
public record OperatorCases(String name, Consumer<Draw> draw, int allowance, String reason) {
    /** The allowance of cases that TensorFlow Lite computes otherwise than TensorFlow Lite Micro, or does not take. */
    static final int ANY = Integer.MAX_VALUE;

    public static OperatorCases of(String name, Consumer<Draw> draw) {
        return new OperatorCases(name, draw, 0, "");
    }

    /** The same, where TensorFlow Lite's kernel is known not to be the one of TensorFlow Lite Micro, which decides. */
    public OperatorCases mayDifferByOne(String why) {
        return new OperatorCases(name, draw, 1, why);
    }

    /** The same, where TensorFlow Lite's kernel is another one than that of TensorFlow Lite Micro: only our own are compared. */
    public OperatorCases withoutOracle(String why) {
        return new OperatorCases(name, draw, ANY, why);
    }

    /** The same of uint8 wherever it would be of int8. */
    OperatorCases ofUint8() {
        Consumer<Draw> unsigned = d -> {
            d.unsigned();
            draw.accept(d);
        };
        return new OperatorCases(name + "_UINT8", unsigned, 0, "");
    }

    /** The same with weights, and some with biases, that are inputs of the model. */
    OperatorCases withComputedWeights() {
        Consumer<Draw> computed = d -> {
            d.computeParameters();
            draw.accept(d);
        };
        return new OperatorCases(name + "_COMPUTED", computed, allowance, reason);
    }

    /** A case's model file. */
    public Bytes model(long seed) {
        Draw one = new Draw(seed);
        draw.accept(one);
        return Bytes.wrap(one.build());
    }

    @Override
    public String toString() {
        return name;
    }
}
