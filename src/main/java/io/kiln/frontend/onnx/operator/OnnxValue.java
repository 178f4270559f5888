// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Arg;
import java.util.List;
import java.util.Optional;

/**
 * A value of a model in its own layout.
 *
 * @param arg the value; its elements have the type in which the IR holds those of the model
 * @param type element type in the model
 * @param form how integers compute it, if they do
 * @param labels what its values, or its elements along the last dimension, stand for; empty if nothing says so
 */
public record OnnxValue(Arg arg, ElementType type, Optional<IntegerForm> form, List<String> labels) {
    public OnnxValue {
        labels = List.copyOf(labels);
    }

    /** A value without labels. */
    public OnnxValue(Arg arg, ElementType type, Optional<IntegerForm> form) {
        this(arg, type, form, List.of());
    }

    /** A value without more. */
    public OnnxValue(Arg arg, ElementType type) {
        this(arg, type, Optional.empty());
    }
}
