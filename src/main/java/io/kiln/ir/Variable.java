// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import io.kiln.base.Bytes;
import io.kiln.ir.type.TensorType;

/**
 * Memory that keeps its value between runs. Operators read it by its id, which shares one number space with parameters
 * and bindings, and change it where {@link io.kiln.ir.op.Op#writes} says so, in the order of the bindings.
 *
 * @param name name in the model file
 * @param initial elements before the first run and after a reset, row-major, little-endian
 */
public record Variable(int id, String name, TensorType type, Bytes initial) {
    public Variable {
        if (type.bytes() != initial.size()) {
            throw new IllegalArgumentException(
                    "variable `" + name + "` " + type.text() + " begins with " + initial.size() + " bytes");
        }
    }
}
