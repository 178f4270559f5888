// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.report.diff.FigureBudget;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The budgets of a build: what its figures may be at most.
 *
 * @param budgets limits
 * @param baseline report that shares of growth refer to, or its folder; empty for that of the last build
 */
public record BudgetSpec(List<FigureBudget> budgets, Optional<Path> baseline) {
    public BudgetSpec {
        budgets = List.copyOf(budgets);
    }

    /** The budgets of memory only. */
    public BudgetSpec ofMemory() {
        return new BudgetSpec(budgets.stream().filter(FigureBudget::isMemory).toList(), baseline);
    }

    /** Whether a budget is about what a profile counts. */
    public boolean needsProfile() {
        return budgets.stream().anyMatch(budget -> !budget.isMemory());
    }
}
