// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

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
    public static final Signature<QnnDense> SIGNATURE = Layer.quantized(
                    Signature.of(QnnDense.class, "qnn.dense")
                            .data("data", operand -> operand.rank(2))
                            .data("weight", operand -> operand.weighs().rank(2), DType.INT8),
                    QnnDense::units)
            .attributes(Attribute.whole("units", QnnDense::units, 1), Attribute.sums(QnnDense::outDtype), QnnDense::new)
            .result(QnnDense::result);

    @Override
    public Card<QnnDense> card() {
        return SIGNATURE.of(this);
    }

    /** A layer with an int32 accumulator. */
    public QnnDense(int units) {
        this(units, DType.INT32);
    }

    @Override
    public Window geometry() {
        return Window.ONE;
    }

    @Override
    public Shape image(Shape shape) {
        return Shape.of(1, 1, shape.dim(0), shape.dim(1));
    }

    private TensorType result(List<TensorType> args) {
        TensorType result = Dense.fitted(this, units, args, outDtype);
        Check.accumulator(name(), args.get(0), outDtype);
        return result;
    }
}
