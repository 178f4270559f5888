// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/** Element-wise sum of float32 with broadcasting. Arguments: lhs, rhs. */
public record Add() implements Op {
    @Override
    public String name() {
        return "add";
    }

    @Override
    public int arity() {
        return 2;
    }

    @Override
    public Map<String, Object> attributes() {
        return Map.of();
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("lhs", args.get(0), DType.FLOAT32);
        Check.dtype("rhs", args.get(1), DType.FLOAT32);
        return new TensorType(Check.broadcast(args.get(0).shape(), args.get(1).shape()), DType.FLOAT32);
    }
}
