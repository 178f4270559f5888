// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.ir.Constant;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A short list of numbers that a node gets as an input and that is known at build time.
 *
 * @param node the node
 * @param text the input, for messages
 * @param values the list
 */
record KnownNumbers(NodeContext node, String text, Constant values) {
    private static final int MOST = 1 << 18;

    /**
     * The numbers of an input.
     *
     * @param what meaning of the input, such as {@code shape}
     */
    static KnownNumbers of(NodeContext node, int index, String what) {
        Constant values = node.constant(index, what);
        String text = "its input " + index + " (" + what + ")";
        node.require(values.elements() <= MOST, text + " has " + values.elements() + " elements", "a list");
        return new KnownNumbers(node, text, values);
    }

    List<Long> integers() {
        node.require(!values.type().dtype().isFloat(), text + " holds floats", "integers");
        return IntStream.range(0, values.elements()).mapToObj(values::integer).toList();
    }

    List<Float> reals() {
        node.require(values.type().dtype().isFloat(), text + " holds integers", "floats");
        return IntStream.range(0, values.elements()).mapToObj(values::real).toList();
    }
}
