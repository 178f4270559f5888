// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.build;

import io.kiln.ir.Function;
import io.kiln.ir.text.Place;
import io.kiln.ir.text.RelaySyntax.Metadata;
import io.kiln.reference.ConstantFolder;
import java.util.Optional;

/** Things outside a function's definition to which it can refer. */
public interface CalledFunctions {
    /** What the metadata section holds. */
    Metadata metadata();

    /** Computes constants of all functions of the text. */
    ConstantFolder folder();

    /**
     * A function that an operator calls; empty if it could not be read, which has been reported.
     *
     * @param place place of the call
     */
    Optional<Function> called(String name, Place place);
}
