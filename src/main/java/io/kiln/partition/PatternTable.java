// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import java.util.List;

/**
 * The patterns that a code generator takes.
 *
 * @param compiler its name
 * @param patterns its patterns; earlier ones take first
 */
public record PatternTable(String compiler, List<CompositePattern> patterns) {
    public PatternTable {
        patterns = List.copyOf(patterns);
    }
}
