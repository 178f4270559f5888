// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * A tensor of one value. Argument: the value, a scalar.
 *
 * @param shape shape of the result
 */
public record Full(Shape shape) implements Op {
    @Override
    public String name() {
        return "full";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("shape", shape.dims());
    }

    @Override
    public Spelling spelling(List<TensorType> args) {
        return Spelling.of(this).with("dtype", args.get(0).dtype().text());
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.rank("fill value", args.get(0), 0);
        return new TensorType(shape, args.get(0).dtype());
    }
}
