// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.base.Bytes;
import io.kiln.ir.Function;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * An operator's random cases.
 *
 * @param name what tests and failures call it
 * @param draw builds a model from one case's random numbers
 * @param library what TensorFlow Lite's library computes of the imported function: the function itself, or one with another step, see
 *     {@link LibraryKernels}; empty if the library is not asked
 * @param reason why the library computes otherwise, or is not asked
 */
public record OperatorCases(String name, Consumer<Draw> draw, Optional<LibraryAnswers> library, String reason) {
    public static OperatorCases of(String name, Consumer<Draw> draw) {
        return new OperatorCases(name, draw, Optional.of(LibraryAnswers.of(UnaryOperator.identity())), "");
    }

    /**
     * The same, where the kernel of TensorFlow Lite's library differs in one step from that of TensorFlow Lite Micro, which decides. The
     * library must answer what the changed function does, for equality: so nothing else differs.
     */
    OperatorCases differingIn(UnaryOperator<Function> step, String why) {
        return answeredAs(LibraryAnswers.of(step), why);
    }

    /** The same, where no function of operators is what the library computes. */
    OperatorCases answeredAs(LibraryAnswers answers, String why) {
        return new OperatorCases(name, draw, Optional.of(answers), why);
    }

    /** The same, where TensorFlow Lite's kernel is another one than that of TensorFlow Lite Micro: only our own are compared. */
    public OperatorCases withoutOracle(String why) {
        return new OperatorCases(name, draw, Optional.empty(), why);
    }

    /** The same of uint8 wherever it would be of int8. */
    OperatorCases ofUint8() {
        Consumer<Draw> unsigned = d -> {
            d.unsigned();
            draw.accept(d);
        };
        return new OperatorCases(name + "_UINT8", unsigned, library, reason);
    }

    /** The same with scales whose quotients depend on the precision. */
    OperatorCases withStraddlingScales() {
        Consumer<Draw> straddling = d -> {
            d.straddleScales();
            draw.accept(d);
        };
        return new OperatorCases(name + "_STRADDLING", straddling, library, reason);
    }

    /** The same with weights, and some with biases, that are inputs of the model. */
    OperatorCases withComputedWeights() {
        Consumer<Draw> computed = d -> {
            d.computeParameters();
            draw.accept(d);
        };
        return new OperatorCases(name + "_COMPUTED", computed, library, reason);
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
