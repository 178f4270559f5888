// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.fit;

import java.util.OptionalLong;

/**
 * The most memory that an image may take.
 *
 * @param flash bytes of read-only memory; empty for any number
 * @param ram bytes of writable memory; empty for any number
 */
public record FitLimits(OptionalLong flash, OptionalLong ram) {
    /** Any number of bytes. */
    public static final FitLimits NONE = new FitLimits(OptionalLong.empty(), OptionalLong.empty());

    /** Whether an image of such a cost may be. */
    public boolean allow(FitCost cost) {
        return cost.flash() <= flash.orElse(Long.MAX_VALUE) && cost.ram() <= ram.orElse(Long.MAX_VALUE);
    }
}
