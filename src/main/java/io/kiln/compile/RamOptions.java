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
    /** What saves most, where the board has RAM to spare and its flash makes the core wait. */
    public static final RamOptions AUTO = new RamOptions(RamShare.AUTO, RamShare.AUTO);
}
