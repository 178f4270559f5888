// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/**
 * 2-D convolution with quantized weights, NHWC, before rescaling.
 *
 * <p>Arguments: data, weight, input zero point, kernel zero point, input scale, kernel scale (scalar or per channel).
 * The weight's layout is OHWI, or HWOI if {@code groups} equals the input channels and is above 1 (depthwise, any
 * multiplier). {@code acc = sum((data - inputZeroPoint) * (weight - kernelZeroPoint))}; padding has the value of the
 * input zero point. For float32 data the result is float32: {@code kernelScale * sum(data * (weight -
 * kernelZeroPoint))}.
 *
 * @param window geometry
 * @param groups 1 for a dense convolution
 * @param channels output channels
 * @param kernelLayout {@code OHWI} or {@code HWOI}
 * @param outDtype int32 or int64, in which sums of integers wrap around; float32 for float32 data
 */
public record QnnConv2d(Window window, int groups, int channels, String kernelLayout, DType outDtype) implements Layer {
    public static final Signature<QnnConv2d> SIGNATURE = Layer.quantized(
                    Signature.of(QnnConv2d.class, "qnn.conv2d")
                            .data("data")
                            .data("weight", Operand::weighs, DType.INT8),
                    QnnConv2d::channels)
            .text(op -> Conv2d.text(op.window, op.groups, op.channels, op.kernelLayout, op.outDtype.text()))
            .rules((op, args) -> Conv2d.checkLayout(op, op.kernelLayout, args))
            .result(QnnConv2d::result);

    @Override
    public Card<QnnConv2d> card() {
        return SIGNATURE.of(this);
    }

    /** A convolution with an int32 accumulator. */
    public QnnConv2d(Window window, int groups, int channels, String kernelLayout) {
        this(window, groups, channels, kernelLayout, DType.INT32);
    }

    @Override
    public Window geometry() {
        return window;
    }

    @Override
    public Optional<Layer> withGeometry(Window other) {
        return Optional.of(new QnnConv2d(other, groups, channels, kernelLayout, outDtype));
    }

    @Override
    public boolean isDepthwise(int inputChannels) {
        return Conv2d.isDepthwise(groups, inputChannels);
    }

    private TensorType result(List<TensorType> args) {
        Check.accumulator(name(), args.get(0), outDtype);
        return Conv2d.infer(name(), window, groups, channels, args.get(0), args.get(1), outDtype);
    }
}
