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
    /** A convolution with an int32 accumulator. */
    public QnnConv2d(Window window, int groups, int channels, String kernelLayout) {
        this(window, groups, channels, kernelLayout, DType.INT32);
    }

    @Override
    public String name() {
        return "qnn.conv2d";
    }

    @Override
    public int arity() {
        return 6;
    }

    @Override
    public Map<String, Object> attributes() {
        return ConvShapes.attributes(window, groups, channels, kernelLayout, outDtype.text());
    }

    @Override
    public Window geometry() {
        return window;
    }

    @Override
    public boolean isQuantized() {
        return true;
    }

    @Override
    public void check(Arguments args) {
        ConvShapes.checkLayout(this, kernelLayout, args);
        checkQuantization(args);
    }

    @Override
    public Optional<Layer> withGeometry(Window other) {
        return Optional.of(new QnnConv2d(other, groups, channels, kernelLayout, outDtype));
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.scalar("input zero point", args.get(2), DType.INT32);
        Check.scalar("kernel zero point", args.get(3), DType.INT32);
        Check.scalar("input scale", args.get(4), DType.FLOAT32);
        Check.perAxis("kernel scale", args.get(5), DType.FLOAT32, channels);
        Check.dtype("weight", args.get(1), DType.INT8);
        Check.accumulator(name(), args.get(0), outDtype);
        return ConvShapes.infer(name(), window, groups, channels, args.get(0), args.get(1), outDtype);
    }

    @Override
    public boolean isDepthwise(int inputChannels) {
        return ConvShapes.isDepthwise(groups, inputChannels);
    }
}
