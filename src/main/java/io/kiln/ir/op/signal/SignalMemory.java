// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.ir.type.TensorType;
import java.util.List;

/** An operator of data and one variable, its state, which it reads and writes. */
public interface SignalMemory extends Signal {
    /** Position of the state among the arguments. */
    int STATE = 1;

    /** Type of the state for data. */
    TensorType state(TensorType data);

    @Override
    default int arity() {
        return 2;
    }

    @Override
    default List<Integer> writes() {
        return List.of(STATE);
    }
}
