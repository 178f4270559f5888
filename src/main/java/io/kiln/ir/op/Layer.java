// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.ir.type.Shape;
import java.util.Optional;
import java.util.function.ToIntFunction;

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
    default boolean isQuantized() {
        return arity() > KERNEL_SCALE;
    }

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

    /**
     * Adds what layers with quantized weights have in common.
     *
     * @param operands data and weight
     * @param channels output channels
     */
    static <O extends Layer> Signature.Draft<O> quantized(Signature.Draft<O> operands, ToIntFunction<O> channels) {
        return operands.zeroPoint("input zero point", (op, args) -> DType.INT8)
                .constant(
                        "kernel zero point",
                        zero -> zero.scalar().within(DType.INT8.min(), DType.INT8.max()),
                        DType.INT32)
                .scale("input scale")
                .scales("kernel scale", (op, args) -> channels.applyAsInt(op))
                .traits(Trait.TAKES_CLIP, Trait.ACCUMULATES)
                .compiles(DType.INT8, DType.INT16, DType.FLOAT32)
                // TVM's layers with quantized weights do not support float data.
                .spelled((op, args) -> args.get(0).dtype().isFloat() ? Spelling.own(op) : Spelling.of(op));
    }
}
