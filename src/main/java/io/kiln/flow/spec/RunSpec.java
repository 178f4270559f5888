// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import java.time.Duration;
import java.util.Optional;

/**
 * How long an image runs.
 *
 * @param limit time in which it must end, or print the text
 * @param until a text on its console that ends the run well, for a program that never ends by itself
 */
public record RunSpec(Duration limit, Optional<String> until) {
    /** A run of a program that ends. */
    public static RunSpec toItsEnd(Duration limit) {
        return new RunSpec(limit, Optional.empty());
    }
}
