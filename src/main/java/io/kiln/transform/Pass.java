// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Function;
import java.util.Optional;

/** A rewriting of a function that keeps what it computes, bit for bit. */
public interface Pass {
    /** Short name for messages and dumps. */
    String name();

    /** The rewritten function, or the same one if there is nothing to do. */
    Function run(Function function);

    /** Why a user cannot leave the pass out; empty for passes that only make the model smaller or faster. */
    default Optional<String> whyRequired() {
        return Optional.empty();
    }
}
