// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.session;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.flow.spec.BudgetSpec;
import io.kiln.report.diff.FigureBudget;
import io.kiln.toolchain.compiler.ToolchainEnvironment.ArtifactFetcher;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the properties {@code kiln.budget.<name>} and names of earlier builds mean. */
public final class Budgets {
    /** Prefix of the properties. */
    public static final String PREFIX = "kiln.budget.";

    private static final String BASELINE = "baseline";
    private static final Set<String> FIGURES = Set.of("flash", "ram", "instructions", "cycles");

    /** What stands behind the prefix. */
    public static final Set<String> NAMES =
            Stream.concat(FIGURES.stream(), Stream.of(BASELINE)).collect(Collectors.toUnmodifiableSet());

    private static final Pattern COORDINATES = Pattern.compile("[\\w.-]+:[\\w.-]+:[\\w.-]+");

    private Budgets() {}

    /**
     * The budgets.
     *
     * @param values by name
     * @throws KilnException if a name is unknown, or a released baseline cannot be fetched
     */
    public static BudgetSpec of(Map<String, String> values, ArtifactFetcher fetcher) {
        List<FigureBudget> budgets = new ArrayList<>();
        for (Map.Entry<String, String> entry : values.entrySet()) {
            if (FIGURES.contains(entry.getKey())) {
                budgets.add(new FigureBudget(entry.getKey(), entry.getValue().strip()));
            } else if (!entry.getKey().equals(BASELINE)) {
                throw Failure.BUDGET.exception(
                        "there is no budget of this name",
                        PREFIX + entry.getKey(),
                        "flash, ram, instructions, cycles or baseline");
            }
        }
        return new BudgetSpec(budgets, baseline(values).map(name -> report(name, fetcher)));
    }

    /** The build that shares refer to: a file, a folder or coordinates, as in {@link #report}. */
    public static Optional<String> baseline(Map<String, String> values) {
        return Optional.ofNullable(values.get(BASELINE));
    }

    /** The report of a build: a file, a folder, or coordinates {@code group:artifact:version} of a build that attached its reports. */
    public static Path report(String name, ArtifactFetcher fetcher) {
        if (!COORDINATES.matcher(name).matches()) {
            return Path.of(name);
        }
        String[] parts = name.split(":", -1);
        try {
            return fetcher.fetch(parts[0], parts[1], parts[2], "report", "json");
        } catch (KilnException e) {
            throw new KilnException(
                    Failure.TOOL.problem(
                            e.problems().get(0).what(),
                            "the report of " + name,
                            "a version that was built and deployed with -Dkiln.attachReports",
                            "Build that version so, or name its report.json instead of its coordinates"),
                    e);
        }
    }
}
