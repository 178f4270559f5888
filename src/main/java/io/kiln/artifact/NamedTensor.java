// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import java.util.List;

/**
 * A tensor of a parameters file.
 *
 * @param dtype element type
 * @param shape dimensions, 0 or more each; empty for a scalar
 * @param data elements, row-major, little-endian
 */
public record NamedTensor(String name, DType dtype, List<Integer> shape, Bytes data) {
    public NamedTensor {
        shape = List.copyOf(shape);
        long bytes = dtype.bytes();
        for (int dim : shape) {
            bytes = Math.multiplyExact(bytes, dim);
        }
        if (shape.stream().anyMatch(d -> d < 0) || bytes != data.size()) {
            throw new IllegalArgumentException(
                    "tensor `" + name + "` " + shape + " " + dtype.text() + " has " + data.size() + " bytes");
        }
    }
}
