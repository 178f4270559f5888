// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;

/** Gives a variable a new value. Arguments: the variable, the value. */
public record RefWrite() implements Op {
    @Override
    public String name() {
        return "ref_write";
    }

    @Override
    public int arity() {
        return 2;
    }

    @Override
    public List<Integer> writes() {
        return List.of(0);
    }

    @Override
    public int operands() {
        return 2;
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.that(
                args.get(0).equals(args.get(1)),
                "a variable of " + args.get(0).text() + " cannot hold "
                        + args.get(1).text());
        return TensorType.UNIT;
    }
}
