// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Rows;

/** Lowers an operator for rows that lie where the plan puts them. */
@FunctionalInterface
public interface Lowering {
    LoweredOperator lower(FusedOperator operator, Rows rows);
}
