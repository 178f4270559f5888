// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.TensorType;
import java.util.List;
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
    @Override
    public String name() {
        return "nn.conv2d";
    }

    @Override
    public int arity() {
        return 2;
    }

    @Override
    public Map<String, Object> attributes() {
        return ConvShapes.attributes(window, groups, channels, kernelLayout, "float32");
    }

    @Override
    public Window geometry() {
        return window;
    }

    @Override
    public boolean isQuantized() {
        return false;
    }

    @Override
    public void check(Arguments args) {
        ConvShapes.checkLayout(this, kernelLayout, args);
    }

    @Override
    public Optional<Layer> withGeometry(Window other) {
        return Optional.of(new Conv2d(other, groups, channels, kernelLayout));
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("data", args.get(0), DType.FLOAT32);
        Check.dtype("weight", args.get(1), DType.FLOAT32);
        return ConvShapes.infer(name(), window, groups, channels, args.get(0), args.get(1), DType.FLOAT32);
    }

    @Override
    public boolean isDepthwise(int inputChannels) {
        return ConvShapes.isDepthwise(groups, inputChannels);
    }
}
