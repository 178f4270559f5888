// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.ir.Arg;
import io.kiln.ir.Origin;
import io.kiln.ir.op.Op;
import java.util.List;

/** Appends operator calls to a graph. */
@FunctionalInterface
public interface Emitter {
    /** Appends a call and returns its result. */
    Arg emit(Op op, List<Arg> args, Origin origin);
}
