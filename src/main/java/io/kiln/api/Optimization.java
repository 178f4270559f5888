// SPDX-License-Identifier: Apache-2.0
package io.kiln.api;

/** The goal of generated code, as {@code kiln.optimize}. There may be more in a later version. */
public enum Optimization {
    /** Fewest cycles. */
    SPEED,
    /** Least flash. */
    SIZE,
    /** Least RAM. */
    RAM
}
