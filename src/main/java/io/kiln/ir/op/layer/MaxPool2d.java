// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.ir.op.Check;
import io.kiln.ir.op.Pool2d;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Maximum over a window without padding. NHWC. Argument: data.
 *
 * @param window geometry
 */
public record MaxPool2d(Window window) implements Pool2d {
    @Override
    public String name() {
        return "nn.max_pool2d";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "pool_size", window.kernelSize(),
                "strides", window.strides(),
                "dilation", window.dilation(),
                "padding", window.padding(),
                "layout", "NHWC");
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.rank("data", args.get(0), 4);
        Shape data = args.get(0).shape();
        int height = window.outputHeight(data.dim(1));
        int width = window.outputWidth(data.dim(2));
        Check.that(height > 0 && width > 0, name() + ": the window is larger than the padded input");
        return new TensorType(
                Shape.of(data.dim(0), height, width, data.dim(3)), args.get(0).dtype());
    }
}
