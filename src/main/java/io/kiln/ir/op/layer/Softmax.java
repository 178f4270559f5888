// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Softmax of float32 over the last axis. Argument: data.
 *
 * @param beta factor on the data before the exponential
 */
public record Softmax(float beta) implements Op {
    @Override
    public String name() {
        return "nn.softmax";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return beta == 1.0f ? Check.attributes("axis", -1) : Check.attributes("axis", -1, "beta", (double) beta);
    }

    @Override
    public Spelling spelling(List<TensorType> args) {
        return beta == 1 ? Spelling.of(this) : Spelling.own(this);
    }

    @Override
    public void check(Arguments args) {
        args.softmax(beta);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("data", args.get(0), DType.FLOAT32);
        return args.get(0);
    }
}
