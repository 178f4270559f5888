// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.base.Bytes;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.util.List;
import java.util.function.UnaryOperator;

/** What TensorFlow Lite's library must answer for an imported function. */
@FunctionalInterface
public interface LibraryAnswers {
    /** The outputs of each round, in which variables keep their values. */
    List<List<Bytes>> of(Function function, List<List<Bytes>> inputs);

    /** Those of the function with a step changed, by the reference interpreter. */
    static LibraryAnswers of(UnaryOperator<Function> step) {
        return (function, inputs) -> {
            Function changed = step.apply(function);
            Interpreter.State state = Interpreter.State.initial(changed);
            return inputs.stream()
                    .map(each -> Interpreter.run(changed, each, state))
                    .toList();
        };
    }
}
