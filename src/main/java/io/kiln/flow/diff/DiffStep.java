// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.diff;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.flow.spec.BudgetSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.pages.JtediffGenerated;
import io.kiln.report.Json;
import io.kiln.report.diff.BuildDiff;
import io.kiln.report.diff.BuildDiff.DiffText;
import io.kiln.report.diff.FigureBudget;
import io.kiln.report.diff.Figures;
import io.kiln.report.page.Page;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Compares a build with an earlier one. */
public record DiffStep(Log log, Layout layout) {
    /**
     * Logs what changed, and writes {@code diff.json}, {@code diff.md} and {@code diff.html}.
     *
     * @param with the earlier build's report or its folder; empty for the last build
     * @param name what to call the earlier build
     * @throws KilnException if one of the two has no report
     */
    public void run(Optional<Path> with, String name) {
        BuildDiff diff = compare(with, name);
        Path reports = layout.reports();
        Json.write(reports.resolve("diff.json"), diff);
        WholeFiles.write(reports.resolve("diff.md"), DiffText.markdown(diff));
        WholeFiles.write(
                reports.resolve("diff.html"), Page.of((out, html) -> JtediffGenerated.render(out, html, diff)));
        log.answer("Compared with " + name + ":");
        DiffText.lines(diff).forEach(log::answer);
        log.answer("Page: " + reports.resolve("diff.html"));
    }

    /**
     * Checks as {@link #check(BudgetSpec)} does.
     *
     * @param profile counts instructions and cycles; it runs if a budget is about them
     */
    public void check(BudgetSpec spec, Runnable profile) {
        if (spec.needsProfile()) {
            profile.run();
        }
        check(spec);
    }

    /**
     * Checks figures against their budgets. One that is not known yet, such as instructions before a profile, is not checked.
     *
     * @throws KilnException with the table of what grew if one is exceeded, or if a budget is malformed or its baseline is missing
     */
    public void check(BudgetSpec spec) {
        Problems problems = new Problems(Failure.BUDGET);
        spec.budgets().forEach(budget -> budget.malformed().ifPresent(problems::add));
        problems.throwIfAny();
        boolean needsBaseline = spec.budgets().stream().anyMatch(FigureBudget::isShare);
        if (spec.budgets().isEmpty() || (needsBaseline && isFirst(spec))) {
            return;
        }
        BuildDiff diff =
                needsBaseline ? compare(spec.baseline(), "the baseline") : BuildDiff.of("", Figures.NONE, now());
        spec.budgets()
                .forEach(budget -> budget.exceeded(diff.total(budget.what())).ifPresent(problems::add));
        if (!problems.isEmpty() && needsBaseline) {
            DiffText.lines(diff).forEach(log::info);
        }
        problems.throwIfAny();
    }

    /** Whether there is no earlier build to grow from, because this is the first one and the user names no baseline. */
    private boolean isFirst(BudgetSpec spec) {
        boolean isFirst = spec.baseline().isEmpty() && !Files.isRegularFile(LastBuild.report(layout));
        if (isFirst) {
            log.info("Budgets of growth: there is no earlier build to compare with");
        }
        return isFirst;
    }

    private BuildDiff compare(Optional<Path> with, String name) {
        Path before = with.map(DiffStep::report).orElseGet(() -> LastBuild.report(layout));
        if (!Files.isRegularFile(before)) {
            throw Failure.BUDGET.exception(
                    "there is no earlier build to compare with",
                    before.toString(),
                    "a report.json",
                    "Name another with -Dkiln.diff.with, or build twice without mvn clean");
        }
        return BuildDiff.of(name, Figures.read(before), now());
    }

    private Figures now() {
        Path report = layout.reports().resolve(Figures.REPORT);
        if (!Files.isRegularFile(report)) {
            throw Failure.BUDGET.exception(
                    "this build has no report", report.toString(), "kiln:link before this goal", "Run mvn package");
        }
        return Figures.read(report);
    }

    /** The files that a report may be in, given as itself, or as a folder of reports or of a build. */
    public static List<Path> files(Path given) {
        return Files.isDirectory(given)
                ? List.of(given.resolve(Figures.REPORT), given.resolve("kiln").resolve(Figures.REPORT))
                : List.of(given);
    }

    /** The file of a report, given as itself, or as a folder of reports or of a build. */
    private static Path report(Path given) {
        List<Path> files = files(given);
        return Files.isRegularFile(files.get(0)) ? files.get(0) : files.get(files.size() - 1);
    }

    /** The reports of the build before, in {@code kiln/previous}. */
    public static final class LastBuild {
        private static final List<String> KEPT = List.of(Figures.REPORT, "profile.json", "verify.json");

        private LastBuild() {}

        /** The earlier build's report; there is no such file before the second build. */
        static Path report(Layout layout) {
            return layout.reports().resolve("previous").resolve(Figures.REPORT);
        }

        /** Keeps the reports that there are, before those of another image take their places. */
        public static void keep(Layout layout) {
            Path folder = report(layout).getParent();
            for (String name : KEPT) {
                Path now = layout.reports().resolve(name);
                if (Files.isRegularFile(now)) {
                    WholeFiles.copy(now, folder.resolve(name));
                } else {
                    WholeFiles.delete(folder.resolve(name));
                }
            }
        }

        /** What changed in size since then, in a line; empty after the first build, or if that build's report cannot be read. */
        public static Optional<String> line(Layout layout) {
            if (!Files.isRegularFile(report(layout))) {
                return Optional.empty();
            }
            try {
                Figures now = Figures.read(layout.reports().resolve(Figures.REPORT));
                BuildDiff diff = BuildDiff.of("", Figures.read(report(layout)), now);
                return Optional.of("Since the last build: flash " + DiffText.difference(diff.total("flash"))
                        + " bytes, RAM " + DiffText.difference(diff.total("ram")) + " bytes");
            } catch (KilnException e) {
                return Optional.empty();
            }
        }
    }
}
