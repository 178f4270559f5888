// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The same elements under other dimensions. Argument: data.
 *
 * @param shape the new dimensions, all known
 */
public record Reshape(Shape shape) implements Op {
    @Override
    public String name() {
        return "reshape";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("newshape", shape.dims());
    }

    @Override
    public Set<Trait> traits() {
        return Set.of(Trait.VIEW);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.that(
                args.get(0).shape().elements() == shape.elements(),
                "reshape from " + args.get(0).shape().text() + " to " + shape.text()
                        + " changes the number of elements");
        return new TensorType(shape, args.get(0).dtype());
    }
}
