// SPDX-License-Identifier: Apache-2.0
package io.kiln.api;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.PromisedForms;
import io.kiln.spi.ElementType;
import java.util.List;

/**
 * An input or output of a model.
 *
 * @param name its name in the model's file
 * @param type type of its elements
 * @param shape its dimensions
 * @param scale real numbers that one step stands for; 0 if it is not quantized
 * @param zeroPoint the element that stands for 0
 */
public record TensorDescription(String name, ElementType type, List<Integer> shape, float scale, int zeroPoint) {
    /** Copies the dimensions. */
    public TensorDescription {
        shape = List.copyOf(shape);
    }

    static TensorDescription of(TensorInfo tensor) {
        return new TensorDescription(
                tensor.name(), PromisedForms.of(tensor.dtype()), tensor.shape(), tensor.scale(), tensor.zeroPoint());
    }

    static List<TensorDescription> of(List<TensorInfo> tensors) {
        return tensors.stream().map(TensorDescription::of).toList();
    }

    /**
     * Bytes of all elements.
     *
     * @return what a run takes or gives
     */
    public int bytes() {
        return shape.stream().reduce(type.bytes(), Math::multiplyExact);
    }
}
