// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Function;
import java.util.Optional;

/** A transformation of a function that keeps its results bit for bit. */
public interface Pass {
    /** Short name for messages and dumps. */
    String name();

    /** The transformed function, or the same one if there is nothing to do. */
    Function run(Function function);

    /** Why a user cannot disable the pass; empty for passes that only make the model smaller or faster. */
    default Optional<String> whyRequired() {
        return Optional.empty();
    }
}
