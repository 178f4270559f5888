// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Rows;

/** Lowers an operator for the rows and rings of a plan. */
@FunctionalInterface
public interface Lowering {
    LoweredOperator lower(FusedOperator operator, Rows rows);
}
