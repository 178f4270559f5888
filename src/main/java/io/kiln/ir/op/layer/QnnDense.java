// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Quantized fully connected layer: data (batch, in) times weight (units, in) transposed.
 *
 * <p>Arguments: data, weight, input zero point, kernel zero point, input scale, kernel scale (scalar or per unit). For
 * float32 data the result is float32: {@code kernelScale * sum(data * (weight - kernelZeroPoint))}.
 *
 * @param units rows of the weight
 * @param outDtype int32 or int64, in which sums of integers wrap around; float32 for float32 data
 */
public record QnnDense(int units, DType outDtype) implements Layer {
    /** A layer with an int32 accumulator. */
    public QnnDense(int units) {
        this(units, DType.INT32);
    }

    @Override
    public String name() {
        return "qnn.dense";
    }

    @Override
    public int arity() {
        return 6;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("units", units, "out_dtype", outDtype.text());
    }

    @Override
    public Window geometry() {
        return Window.ONE;
    }

    @Override
    public boolean isQuantized() {
        return true;
    }

    @Override
    public Shape image(Shape shape) {
        return Shape.of(1, 1, shape.dim(0), shape.dim(1));
    }

    @Override
    public void check(Arguments args) {
        checkQuantization(args);
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
        Check.dtype("weight", args.get(1), DType.INT8);
        Check.accumulator(name(), args.get(0), outDtype);
        Check.scalar("input zero point", args.get(2), DType.INT32);
        Check.scalar("kernel zero point", args.get(3), DType.INT32);
        Check.scalar("input scale", args.get(4), DType.FLOAT32);
        Check.perAxis("kernel scale", args.get(5), DType.FLOAT32, units);
        return new TensorType(Shape.of(args.get(0).shape().dim(0), units), outDtype);
    }
}
