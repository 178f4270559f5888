// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Function;
import io.kiln.reference.ConstantFolder;
import java.util.Optional;

/** A transformation of a function that keeps its results bit for bit. */
public interface Pass {
    /** Short name for messages and dumps. */
    String name();

    /** The transformed function, or the same one if there is nothing to do. */
    Function run(Function function);

    /**
     * The transformed function.
     *
     * @param folder computes constants, and counts what all passes compute of a model
     */
    default Function run(Function function, ConstantFolder folder) {
        return run(function);
    }

    /** Why a user cannot disable the pass; empty for passes that only make the model smaller or faster. */
    default Optional<String> whyRequired() {
        return Optional.empty();
    }
}
