// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Window;
import java.util.Optional;

/**
 * 2-D convolution of float32, NHWC.
 *
 * <p>Arguments: data, weight. The weight's layout is OHWI, or HWOI if {@code groups} equals the input channels and is
 * above 1 (depthwise, any multiplier).
 *
 * @param window geometry
 * @param groups 1 for a dense convolution
 * @param channels output channels
 * @param kernelLayout {@code OHWI} or {@code HWOI}
 */
public record Conv2d(Window window, int groups, int channels, String kernelLayout) implements Layer {
    public static final Signature<Conv2d> SIGNATURE = Signature.of(Conv2d.class, "nn.conv2d")
            .data("data", DType.FLOAT32)
            .data("weight", Operand::weighs, DType.FLOAT32)
            .text(op -> ConvShapes.attributes(op.window, op.groups, op.channels, op.kernelLayout, "float32"))
            .rules((op, args) -> ConvShapes.checkLayout(op, op.kernelLayout, args))
            .result((op, args) -> ConvShapes.infer(
                    op.name(), op.window, op.groups, op.channels, args.get(0), args.get(1), DType.FLOAT32));

    @Override
    public Card<Conv2d> card() {
        return SIGNATURE.of(this);
    }

    @Override
    public Window geometry() {
        return window;
    }

    @Override
    public Optional<Layer> withGeometry(Window other) {
        return Optional.of(new Conv2d(other, groups, channels, kernelLayout));
    }

    @Override
    public boolean isDepthwise(int inputChannels) {
        return ConvShapes.isDepthwise(groups, inputChannels);
    }
}
