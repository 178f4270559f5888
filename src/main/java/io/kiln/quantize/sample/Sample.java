// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.sample;

import io.kiln.base.Bytes;
import java.util.List;
import java.util.Optional;

/**
 * One run of a model.
 *
 * @param name its file, or its number in an array
 * @param inputs one per parameter of the model, row-major, little-endian
 * @param label index of the right class, if it is known
 */
public record Sample(String name, List<Bytes> inputs, Optional<Integer> label) {
    public Sample {
        inputs = List.copyOf(inputs);
    }

    /** A sample without a label. */
    public Sample(String name, List<Bytes> inputs) {
        this(name, inputs, Optional.empty());
    }

    Sample labelled(int newLabel) {
        return new Sample(name, inputs, Optional.of(newLabel));
    }
}
