// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * 2-D transposed convolution with quantized weights, NHWC, before rescaling, with the sums of {@link QnnConv2d}.
 *
 * <p>Arguments: data, weight (OHWI), input zero point, kernel zero point, input scale, kernel scale (scalar or per channel).
 *
 * @param window geometry
 * @param channels output channels
 * @param outDtype int32 or int64, in which sums wrap around
 */
public record QnnConv2dTranspose(TransposedWindow window, int channels, DType outDtype) implements TransposedLayer {
    @Override
    public String name() {
        return "qnn.conv2d_transpose";
    }

    @Override
    public int arity() {
        return 6;
    }

    @Override
    public Map<String, Object> attributes() {
        return window.attributes(channels, outDtype);
    }

    @Override
    public boolean isQuantized() {
        return true;
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.scalar("input zero point", args.get(2), DType.INT32);
        Check.scalar("kernel zero point", args.get(3), DType.INT32);
        Check.scalar("input scale", args.get(4), DType.FLOAT32);
        Check.perAxis("kernel scale", args.get(5), DType.FLOAT32, channels);
        Check.dtype("weight", args.get(1), DType.INT8);
        Check.that(args.get(0).dtype().isInteger(), name() + ": data must be quantized");
        Check.accumulator(name(), args.get(0), outDtype);
        return window.infer(name(), channels, args.get(0), args.get(1), outDtype);
    }
}
