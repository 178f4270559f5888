// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * 2-D transposed convolution of float32, NHWC. Arguments: data, weight (OHWI).
 *
 * @param window geometry
 * @param channels output channels
 */
public record Conv2dTranspose(TransposedWindow window, int channels) implements TransposedLayer {
    @Override
    public String name() {
        return "nn.conv2d_transpose";
    }

    @Override
    public int arity() {
        return 2;
    }

    @Override
    public Map<String, Object> attributes() {
        return window.attributes(channels, DType.FLOAT32);
    }

    @Override
    public boolean isQuantized() {
        return false;
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("data", args.get(0), DType.FLOAT32);
        Check.dtype("weight", args.get(1), DType.FLOAT32);
        return window.infer(name(), channels, args.get(0), args.get(1), DType.FLOAT32);
    }
}
