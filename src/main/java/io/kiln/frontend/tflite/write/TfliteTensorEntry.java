// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.base.Bytes;
import io.kiln.ir.Quantization;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/**
 * A tensor of a file.
 *
 * @param scaling its quantization; empty if it has none
 * @param data its elements, if it is constant
 * @param isVariable whether it keeps its elements from one run to the next
 */
record TfliteTensorEntry(
        String name, TensorType type, Optional<Scaling> scaling, Optional<Bytes> data, boolean isVariable) {
    TfliteTensorEntry(String name, TensorType type, Optional<Scaling> scaling, Optional<Bytes> data) {
        this(name, type, scaling, data, false);
    }

    /**
     * Scales along a dimension.
     *
     * @param scales one, or one per element of the dimension
     * @param zeroPoint of all
     */
    record Scaling(List<Float> scales, int zeroPoint, int dimension) {
        Scaling {
            scales = List.copyOf(scales);
        }

        /** One scale for all elements. */
        static Scaling of(Quantization quantization) {
            return new Scaling(List.of(quantization.scale()), quantization.zeroPoint(), 0);
        }
    }
}
