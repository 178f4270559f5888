// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A convolution or fully connected layer; the latter is a 1x1 convolution over an image one row high whose columns are
 * the batch. Arguments: data, weight, and for quantized weights input zero point, kernel zero point, input scale and
 * kernel scale.
 */
public interface Layer extends Op {
    /** Position of the data's zero point, for quantized weights. */
    int INPUT_ZERO_POINT = 2;

    /** Position of the weight's zero point, for quantized weights. */
    int KERNEL_ZERO_POINT = 3;

    /** Position of the weight's scale, for quantized weights. */
    int KERNEL_SCALE = 5;

    /** Kernel, strides and padding, which crops the output of a transposed convolution. */
    Window geometry();

    /** The same with another kernel window; empty for layers without one, or whose padding is the output's. */
    default Optional<Layer> withGeometry(Window window) {
        return Optional.empty();
    }

    /** Whether weights are integers; integer data is summed in a wider type. */
    boolean isQuantized();

    /** Whether the strides are the output's. */
    default boolean isTransposed() {
        return false;
    }

    /** 1 for layers in which each output channel reads all input channels. */
    default int groups() {
        return 1;
    }

    /** Whether every input channel has kernels of its own, in layout HWOI. */
    default boolean isDepthwise(int inputChannels) {
        return false;
    }

    /** NHWC dimensions of the data or the result. */
    default Shape image(Shape shape) {
        return shape;
    }

    @Override
    default int operands() {
        return 2;
    }

    @Override
    default Set<Trait> traits() {
        return isQuantized() ? Set.of(Trait.TAKES_CLIP, Trait.ACCUMULATES) : Set.of(Trait.TAKES_CLIP);
    }

    /** Data types for quantized weights; other weights are float32 only. */
    @Override
    default Set<DType> dataTypes() {
        return isQuantized() ? Set.of(DType.INT8, DType.INT16, DType.FLOAT32) : Set.of(DType.FLOAT32);
    }

    @Override
    default List<Integer> weights() {
        return List.of(1);
    }

    /** Checks the numbers of a layer with quantized weights. */
    default void checkQuantization(Arguments args) {
        args.quantization(INPUT_ZERO_POINT + 2, INPUT_ZERO_POINT, DType.INT8);
        args.scales(KERNEL_SCALE);
        args.integers(KERNEL_ZERO_POINT, "kernel zero point", zero -> Arguments.isIn(DType.INT8, zero), "-128 to 127");
    }

    /** TVM's layers with quantized weights do not support float data. */
    @Override
    default Spelling spelling(List<TensorType> args) {
        return isQuantized() && args.get(0).dtype().isFloat() ? Spelling.own(this) : Spelling.of(this);
    }
}
