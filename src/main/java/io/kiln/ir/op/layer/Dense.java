// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * Fully connected layer: data (batch, in) times weight (units, in) transposed.
 *
 * <p>Arguments: data, weight.
 *
 * @param units rows of the weight
 */
public record Dense(int units) implements Layer {
    public static final Signature<Dense> SIGNATURE = Signature.of(Dense.class, "nn.dense")
            .data("data", operand -> operand.rank(2), DType.FLOAT32)
            .data("weight", operand -> operand.weighs().rank(2), DType.FLOAT32)
            .attributes(Attribute.whole("units", Dense::units, 1).then("out_dtype", "float32"), Dense::new)
            .result((op, args) -> fitted(op, op.units, args, DType.FLOAT32));

    @Override
    public Card<Dense> card() {
        return SIGNATURE.of(this);
    }

    @Override
    public Window geometry() {
        return Window.ONE;
    }

    @Override
    public Shape image(Shape shape) {
        return Shape.of(1, 1, shape.dim(0), shape.dim(1));
    }

    /** The result of a fully connected layer, whose weight must fit. */
    static TensorType fitted(Op op, int units, List<TensorType> args, DType outDtype) {
        Shape data = args.get(0).shape();
        Shape weight = args.get(1).shape();
        Check.that(
                data.dim(1) == weight.dim(1) && weight.dim(0) == units,
                op.name() + ": weight " + weight.text() + " does not fit data " + data.text() + " and " + units
                        + " units");
        return new TensorType(Shape.of(data.dim(0), units), outDtype);
    }
}
