// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Function;

/** A rewriting of a function that keeps what it computes, bit for bit. */
public interface Pass {
    /** Short name for messages and dumps. */
    String name();

    /** The rewritten function, or the same one if there is nothing to do. */
    Function run(Function function);
}
