// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Set;

/** The same value in its own memory, for example for an output that is a constant. Argument: data. */
public record Copy() implements Op {
    @Override
    public String name() {
        return "copy";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Set<Trait> traits() {
        return Set.of(Trait.COPY, Trait.TAKES_CLIP);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        return args.get(0);
    }
}
