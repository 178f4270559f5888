// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.target.RamShare;

/**
 * What is copied to RAM when a program starts.
 *
 * @param code functions
 * @param weights weights and tables
 */
public record RamOptions(RamShare code, RamShare weights) {
    /** Nothing. */
    public static final RamOptions NONE = new RamOptions(RamShare.NONE, RamShare.NONE);

    /** Everything. */
    public static final RamOptions ALL = new RamOptions(RamShare.ALL, RamShare.ALL);

    /** What saves most, where the board has RAM to spare and its flash makes the core wait. */
    public static final RamOptions AUTO = new RamOptions(RamShare.AUTO, RamShare.AUTO);
}
