// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.frontend.Formulas;

/** {@link Formulas} of a node of ONNX. */
public final class Expressions extends Formulas {
    public Expressions(NodeContext node) {
        super(node);
    }
}
