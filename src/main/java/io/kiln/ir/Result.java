// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import java.util.List;
import java.util.Optional;

/**
 * An output of a function: a binding (or parameter) under the model's name for it.
 *
 * @param labels what its values, or its elements along the last dimension, stand for, in order; empty if nothing says so
 */
public record Result(int id, String name, Optional<Quantization> quantization, List<String> labels) {
    /** An output without labels. */
    public Result(int id, String name, Optional<Quantization> quantization) {
        this(id, name, quantization, List.of());
    }

    public Result {
        labels = List.copyOf(labels);
    }

    /** The same output, which another binding computes. */
    public Result of(int other) {
        return new Result(other, name, quantization, labels);
    }
}
