// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.base.KilnException;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;

/** An operator of a model during its import: where calls of the IR's operators are appended, and problems have a place. */
public interface GraphSite {
    /** Appends a call and returns its result. */
    Arg emit(Op op, List<Arg> args);

    /** Appends a call and returns its result. */
    default Arg emit(Op op, Arg... args) {
        return emit(op, List.of(args));
    }

    /** Type of a value. */
    TensorType type(Arg value);

    /**
     * Ends the import of the operator unless a condition holds.
     *
     * @throws KilnException that names the operator
     */
    void requireThat(boolean holds, String what, String expected);

    /** An error that names the operator. */
    KilnException failure(String what, String expected);
}
