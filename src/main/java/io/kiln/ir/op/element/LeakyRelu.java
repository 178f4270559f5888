// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * {@code x > 0 ? x : alpha * x} of float32. Argument: data.
 *
 * @param alpha slope of the negative side; any number
 */
public record LeakyRelu(float alpha) implements Op {
    @Override
    public String name() {
        return "nn.leaky_relu";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("alpha", (double) alpha);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("data", args.get(0), DType.FLOAT32);
        return args.get(0);
    }
}
