// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.model;

import java.util.List;

/** The value of a node's attribute. */
public sealed interface OnnxAttribute {
    /** An integer. */
    record Whole(long value) implements OnnxAttribute {}

    /** A number in single precision. */
    record Real(float value) implements OnnxAttribute {}

    /** A string. */
    record Text(String value) implements OnnxAttribute {}

    /** A constant tensor. */
    record Tensor(OnnxTensor value) implements OnnxAttribute {}

    /** A body of a control flow operator. */
    record Body(OnnxGraph value) implements OnnxAttribute {}

    /** Integers. */
    record Wholes(List<Long> values) implements OnnxAttribute {
        public Wholes {
            values = List.copyOf(values);
        }
    }

    /** Numbers in single precision. */
    record Reals(List<Float> values) implements OnnxAttribute {
        public Reals {
            values = List.copyOf(values);
        }
    }

    /** Strings. */
    record Texts(List<String> values) implements OnnxAttribute {
        public Texts {
            values = List.copyOf(values);
        }
    }

    /** Inside a function: the attribute of that name of the function's call. */
    record Reference(String name) implements OnnxAttribute {}

    /** A kind that no supported operator has, by its name in the schema. */
    record Other(String kind) implements OnnxAttribute {}
}
