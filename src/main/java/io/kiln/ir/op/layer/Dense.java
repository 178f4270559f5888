// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Fully connected layer: data (batch, in) times weight (units, in) transposed.
 *
 * <p>Arguments: data, weight.
 *
 * @param units rows of the weight
 */
public record Dense(int units) implements Layer {
    @Override
    public String name() {
        return "nn.dense";
    }

    @Override
    public int arity() {
        return 2;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("units", units, "out_dtype", "float32");
    }

    @Override
    public Window geometry() {
        return Window.ONE;
    }

    @Override
    public boolean isQuantized() {
        return false;
    }

    @Override
    public Shape image(Shape shape) {
        return Shape.of(1, 1, shape.dim(0), shape.dim(1));
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.rank("data", args.get(0), 2);
        Check.rank("weight", args.get(1), 2);
        Check.that(
                args.get(0).shape().dim(1) == args.get(1).shape().dim(1)
                        && args.get(1).shape().dim(0) == units,
                name() + ": weight " + args.get(1).shape().text() + " does not fit data "
                        + args.get(0).shape().text() + " and " + units + " units");
        Check.dtype("data", args.get(0), DType.FLOAT32);
        Check.dtype("weight", args.get(1), DType.FLOAT32);
        return new TensorType(Shape.of(args.get(0).shape().dim(0), units), DType.FLOAT32);
    }
}
