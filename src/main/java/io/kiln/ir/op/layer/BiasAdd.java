// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Adds a vector along an axis. Arguments: data, bias of the same element type.
 *
 * @param axis the axis; negative counts from the end
 */
public record BiasAdd(int axis) implements Op {
    @Override
    public String name() {
        return "nn.bias_add";
    }

    @Override
    public int arity() {
        return 2;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("axis", axis);
    }

    @Override
    public int operands() {
        return 2;
    }

    @Override
    public void check(Arguments args) {
        args.lastAxis(axis);
        args.biases(1);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("bias", args.get(1), args.get(0).dtype());
        Check.rank("bias", args.get(1), 1);
        Check.axis(args.get(0), axis);
        Check.that(
                args.get(1).shape().dim(0) == args.get(0).shape().dim(axis),
                "bias " + args.get(1).shape().text() + " does not fit "
                        + args.get(0).shape().text());
        return args.get(0);
    }
}
