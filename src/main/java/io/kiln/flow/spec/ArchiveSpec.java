// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import java.time.Instant;
import java.util.Optional;

/**
 * How the archive of the models is written.
 *
 * @param version version of the Model Library Format, 5 or 7
 * @param timestamp the time that it states; empty means a fixed date
 * @param slim whether it omits the constants' data
 */
public record ArchiveSpec(int version, Optional<Instant> timestamp, boolean slim) {
    /** The newest version with a fixed date, complete. */
    public static final ArchiveSpec DEFAULT = new ArchiveSpec(7, Optional.empty(), false);
}
