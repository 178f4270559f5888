// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.model;

import java.util.List;
import java.util.Optional;

/**
 * The stated type of a value.
 *
 * @param name its name
 * @param kind {@code tensor}, or another kind, such as {@code sequence}
 * @param type element type of a tensor
 * @param dimensions its dimensions; empty if the file states none
 */
public record OnnxValueInfo(String name, String kind, ElementType type, Optional<List<Dimension>> dimensions) {
    /** The kind of a tensor. */
    public static final String TENSOR = "tensor";

    /**
     * A dimension.
     *
     * @param size its size; empty if it is open
     * @param name name of an open dimension; empty if it has none
     */
    public record Dimension(Optional<Long> size, String name) {}

    public OnnxValueInfo {
        dimensions = dimensions.map(List::copyOf);
    }
}
