// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.node;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.model.OnnxTensor;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.legality.Legality;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.Interpreter;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What became of a test.
 *
 * @param test the test
 * @param kind passed, refused or wrong
 * @param text the refusal, or what is wrong
 * @param function the model; empty if it is refused
 */
record Outcome(NodeTest test, Kind kind, String text, Optional<Function> function) {
    /** The kinds. */
    enum Kind {
        PASSED,
        REFUSED,
        WRONG
    }

    /** Imports a test's model and runs it in the interpreter. */
    static Outcome of(NodeTest test, String name) {
        Function function;
        try {
            function =
                    OnnxFrontend.convert(test.frozen(), name, InputShapes.NONE).function();
        } catch (KilnException e) {
            return new Outcome(test, Kind.REFUSED, e.problems().get(0).what(), Optional.empty());
        }
        if (test.inputs().stream().anyMatch(input -> input.shape().elements() == 0)) {
            return new Outcome(test, Kind.REFUSED, "an input has no elements", Optional.empty());
        }
        String what;
        try {
            Verifier.verify(function);
            Legality.verify(function);
            List<Bytes> inputs =
                    test.inputs().stream().map(t -> t.constant().data()).toList();
            what = difference(test, function, Interpreter.run(function, inputs));
        } catch (RuntimeException e) {
            what = e.toString();
        }
        return new Outcome(test, what.isEmpty() ? Kind.PASSED : Kind.WRONG, what, Optional.of(function));
    }

    /** What of an answer differs; empty if nothing does. */
    static String difference(NodeTest test, Function function, List<Bytes> answer) {
        Map<Integer, TensorType> types = function.types();
        List<OnnxTensor> expected = test.outputs();
        for (int i = 0; i < expected.size(); i++) {
            TensorType type = types.get(function.results().get(i).id());
            String what = Answers.difference(test.name(), expected.get(i), type, answer.get(i));
            if (!what.isEmpty()) {
                return "output " + i + ": " + what;
            }
        }
        return "";
    }

    /** The same as a wrong answer. */
    Outcome wrong(String what) {
        return new Outcome(test, Kind.WRONG, what, function);
    }

    String line() {
        return test.name() + "\t" + kind + "\t" + text.replace('\n', ' ');
    }
}
