// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * An element of x where the condition is true, otherwise of y, with broadcasting. Arguments: condition (bool), x, y of
 * one type.
 */
public record Where() implements Op {
    @Override
    public String name() {
        return "where";
    }

    @Override
    public int arity() {
        return 3;
    }

    @Override
    public int operands() {
        return 3;
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("condition", args.get(0), DType.BOOL);
        Check.dtype("y", args.get(2), args.get(1).dtype());
        return new TensorType(
                Check.broadcast(
                        args.get(0).shape(),
                        Check.broadcast(args.get(1).shape(), args.get(2).shape())),
                args.get(1).dtype());
    }
}
