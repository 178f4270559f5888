// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * Adds a vector along an axis. Arguments: data, bias of the same element type.
 *
 * @param axis the axis; negative counts from the end
 */
public record BiasAdd(int axis) implements Op {
    public static final Signature<BiasAdd> SIGNATURE = Signature.of(BiasAdd.class, "nn.bias_add")
            .data("data")
            .data("bias", operand -> operand.like("data").rank(1))
            .attributes(Attribute.whole("axis", BiasAdd::axis, -4, 3), BiasAdd::new)
            .rules(BiasAdd::rules)
            .result(BiasAdd::result);

    @Override
    public Card<BiasAdd> card() {
        return SIGNATURE.of(this);
    }

    private void rules(Arguments args) {
        args.lastAxis(axis);
        args.biases(1);
    }

    private TensorType result(List<TensorType> args) {
        Check.axis(args.get(0), axis);
        Check.that(
                args.get(1).shape().dim(0) == args.get(0).shape().dim(axis),
                "bias " + args.get(1).shape().text() + " does not fit "
                        + args.get(0).shape().text());
        return args.get(0);
    }
}
