// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

import io.kiln.ir.op.Check;
import io.kiln.ir.op.Movement;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * The data repeated along dimensions of 1, or along new dimensions, by NumPy's rule. Argument: data.
 *
 * @param shape shape of the result
 */
public record BroadcastTo(Shape shape) implements Movement {
    @Override
    public String name() {
        return "broadcast_to";
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
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Shape data = args.get(0).shape();
        Check.that(Check.broadcast(data, shape).equals(shape), data.text() + " does not broadcast to " + shape.text());
        return new TensorType(shape, args.get(0).dtype());
    }
}
