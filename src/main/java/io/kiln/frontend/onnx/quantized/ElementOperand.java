// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Constant;
import java.util.List;
import java.util.stream.Stream;

/** An operand of a function that is computed element by element: a function of bytes, or a constant. */
sealed interface ElementOperand permits ElementForm, TableForm, ElementOperand.Values {
    /** What it is computed from. */
    Sources sources();

    /** Nodes that are evaluated for it; a node that is used twice counts twice. */
    int nodes();

    /** Its values at all points of a grid, as a vector. */
    Constant over(Grid grid);

    /**
     * What decides an element of a result.
     *
     * @param tensors of bytes, each once
     * @param constants of more than one element, each once
     */
    record Sources(List<Dequantized> tensors, List<Constant> constants) {
        public Sources {
            tensors = tensors.stream().distinct().toList();
            constants = constants.stream().distinct().toList();
        }

        /** The sources of a function of both. */
        Sources with(Sources other) {
            return new Sources(
                    Stream.concat(tensors.stream(), other.tensors.stream()).toList(),
                    Stream.concat(constants.stream(), other.constants.stream()).toList());
        }
    }

    /**
     * A constant of several elements.
     *
     * @param node where it is an operand
     */
    record Values(NodeContext node, Constant constant) implements ElementOperand {
        @Override
        public Sources sources() {
            return new Sources(List.of(), List.of(constant));
        }

        @Override
        public int nodes() {
            return 0;
        }

        @Override
        public Constant over(Grid grid) {
            return (Constant) node.take(node.reshape(constant, List.of(constant.elements())), grid.places(constant), 0);
        }
    }
}
