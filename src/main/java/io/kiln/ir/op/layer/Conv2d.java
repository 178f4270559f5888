// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.LinkedHashMap;
import java.util.Map;
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
            .text(op -> text(op.window, op.groups, op.channels, op.kernelLayout, "float32"))
            .rules((op, args) -> checkLayout(op, op.kernelLayout, args))
            .result((op, args) ->
                    infer(op.name(), op.window, op.groups, op.channels, args.get(0), args.get(1), DType.FLOAT32));

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
        return isDepthwise(groups, inputChannels);
    }

    /** Depthwise kernels have layout HWOI (height, width, channel, multiplier), others OHWI. */
    static TensorType infer(
            String name, Window window, int groups, int channels, TensorType data, TensorType weight, DType outDtype) {
        Check.rank(name + " data (NHWC)", data, 4);
        Check.rank(name + " weight", weight, 4);
        int inChannels = data.shape().dim(3);
        Shape kernel = weight.shape();
        if (isDepthwise(groups, inChannels)) {
            Check.that(
                    kernel.dim(0) == window.kernelH()
                            && kernel.dim(1) == window.kernelW()
                            && kernel.dim(2) == inChannels
                            && kernel.dim(2) * kernel.dim(3) == channels,
                    name + " depthwise weight (HWOI) " + kernel.text() + " does not fit " + inChannels + " input and "
                            + channels + " output channels");
        } else {
            Check.that(
                    groups > 0 && inChannels % groups == 0 && channels % groups == 0,
                    name + ": " + groups + " groups do not divide " + inChannels + " input and " + channels
                            + " output channels");
            Check.that(
                    kernel.dim(0) == channels
                            && kernel.dim(1) == window.kernelH()
                            && kernel.dim(2) == window.kernelW()
                            && kernel.dim(3) == inChannels / groups,
                    name + " weight (OHWI) " + kernel.text() + " does not fit " + inChannels + " input and " + channels
                            + " output channels");
        }
        int height = window.outputHeight(data.shape().dim(1));
        int width = window.outputWidth(data.shape().dim(2));
        Check.that(height > 0 && width > 0, name + ": the window is larger than the padded input");
        return new TensorType(Shape.of(data.shape().dim(0), height, width, channels), outDtype);
    }

    /** One group per input channel; a dense convolution over one channel counts as depthwise only if marked so. */
    static boolean isDepthwise(int groups, int inChannels) {
        return groups == inChannels && groups > 1;
    }

    static Map<String, Object> text(Window window, int groups, int channels, String kernelLayout, String out) {
        Map<String, Object> text = new LinkedHashMap<>();
        text.put("strides", window.strides());
        text.put("padding", window.padding());
        text.put("dilation", window.dilation());
        text.put("groups", groups);
        text.put("channels", channels);
        text.put("kernel_size", window.kernelSize());
        text.put("data_layout", "NHWC");
        text.put("kernel_layout", kernelLayout);
        text.put("out_dtype", out);
        return text;
    }

    /** Checks that the weights' layout is the layer's. */
    static void checkLayout(Layer layer, String layout, Arguments args) {
        String expected = layer.isDepthwise(args.data().shape().dim(3)) ? "HWOI" : "OHWI";
        args.require(layout.equals(expected), "kernel_layout is " + layout, expected);
    }
}
