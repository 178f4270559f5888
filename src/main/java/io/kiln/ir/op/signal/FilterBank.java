// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Set;

/**
 * An operator on the channels of a filter bank, from TensorFlow Lite Micro's signal processing library; a custom
 * operator in the file. The first argument is a vector, the data; integers wrap around like unsigned integers in C.
 */
public interface FilterBank extends Op {
    @Override
    default Set<Trait> traits() {
        return Set.of();
    }

    @Override
    default TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.rank("data", args.get(0), 1);
        return inferred(args);
    }

    /** Type of the result, for the right number of arguments and a vector as the first. */
    TensorType inferred(List<TensorType> args);
}
