// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Arg;

/**
 * A value of a model in its own layout.
 *
 * @param arg the value; its elements have the type in which the IR holds those of the model
 * @param type element type in the model
 */
public record OnnxValue(Arg arg, ElementType type) {}
