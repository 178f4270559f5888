// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.report.diff.Budget;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What a build's figures may be at most.
 *
 * @param budgets limits
 * @param baseline report that shares of growth refer to, or its folder; empty for that of the last build
 */
public record BudgetSpec(List<Budget> budgets, Optional<Path> baseline) {
    public BudgetSpec {
        budgets = List.copyOf(budgets);
    }

    /** Those of memory only. */
    public BudgetSpec ofMemory() {
        return new BudgetSpec(budgets.stream().filter(Budget::isMemory).toList(), baseline);
    }

    /** Whether a budget is about what a profile counts. */
    public boolean needsProfile() {
        return budgets.stream().anyMatch(budget -> !budget.isMemory());
    }
}
