// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.lower.LoweredOperator;

/** A step of a program. */
public sealed interface Step {
    /** Runs an operator over its whole output. */
    record Run(LoweredOperator operator) implements Step {}

    /** Copies a stored value to another. */
    record Copy(int from, int to) implements Step {}
}
