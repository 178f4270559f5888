// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import java.time.Duration;
import java.util.Optional;

/**
 * How long to run an image.
 *
 * @param limit time in which the image must end, or print the text
 * @param until console text that ends the run successfully, for programs that never end
 */
public record RunSpec(Duration limit, Optional<String> until) {
    /** A run that ends with the program. */
    public static RunSpec toItsEnd(Duration limit) {
        return new RunSpec(limit, Optional.empty());
    }
}
