// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.base.Bytes;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import java.util.List;
import java.util.function.Consumer;

/**
 * An operator's random cases.
 *
 * @param name what tests and failures call it
 * @param draw builds a model from one case's random numbers
 * @param kernels which kernels there are
 * @param reason why the kernels of TensorFlow Lite Micro and TensorFlow Lite's library differ, or why the library is not asked
 */
public record OperatorCases(String name, Consumer<Draw> draw, Kernels kernels, String reason) {
    /** What TensorFlow Lite's library has for an operator. */
    public enum Kernels {
        /** A kernel that computes what TensorFlow Lite Micro's does. */
        SAME,
        /** A kernel that rounds otherwise, which {@code kiln.tflite.rounding=lite} follows. */
        ROUNDED_OTHERWISE,
        /** None that decides. */
        NONE
    }

    public static OperatorCases of(String name, Consumer<Draw> draw) {
        return new OperatorCases(name, draw, Kernels.SAME, "");
    }

    /** The same, where the kernel of TensorFlow Lite's library rounds otherwise than that of TensorFlow Lite Micro. */
    OperatorCases roundedOtherwise(String why) {
        return new OperatorCases(name, draw, Kernels.ROUNDED_OTHERWISE, why);
    }

    /** The same, where TensorFlow Lite's kernel is another one than that of TensorFlow Lite Micro: only our own are compared. */
    public OperatorCases withoutOracle(String why) {
        return new OperatorCases(name, draw, Kernels.NONE, why);
    }

    /** Whether TensorFlow Lite's library decides. */
    public boolean hasOracle() {
        return kernels != Kernels.NONE;
    }

    /** The same of uint8 wherever it would be of int8. */
    OperatorCases ofUint8() {
        Consumer<Draw> unsigned = d -> {
            d.unsigned();
            draw.accept(d);
        };
        return new OperatorCases(name + "_UINT8", unsigned, kernels, reason);
    }

    /** The same with scales whose quotients depend on the precision. */
    OperatorCases withStraddlingScales() {
        Consumer<Draw> straddling = d -> {
            d.straddleScales();
            draw.accept(d);
        };
        return new OperatorCases(name + "_STRADDLING", straddling, kernels, reason);
    }

    /** The same with weights, and some with biases, that are inputs of the model. */
    OperatorCases withComputedWeights() {
        Consumer<Draw> computed = d -> {
            d.computeParameters();
            draw.accept(d);
        };
        return new OperatorCases(name + "_COMPUTED", computed, kernels, reason);
    }

    /** A case's model file. */
    public Bytes model(long seed) {
        Draw one = new Draw(seed);
        draw.accept(one);
        return Bytes.wrap(one.build());
    }

    /** A case's first inputs. */
    public List<Bytes> inputs(long seed) {
        Draw one = new Draw(seed);
        draw.accept(one);
        return one.rounds(1).get(0);
    }

    /** A case's model with the arithmetic of a library. */
    public Function function(long seed, TfliteRounding rounding, String function) {
        return TfliteFrontend.read(
                model(seed), "case.tflite", function, InputShapes.NONE, CustomOperators.NONE, rounding);
    }

    @Override
    public String toString() {
        return name;
    }
}
