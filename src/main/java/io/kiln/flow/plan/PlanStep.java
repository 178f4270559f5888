// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.plan;

import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Parallel;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.farm.desk.Labels;
import io.kiln.farm.state.FarmState.FarmQuestion;
import io.kiln.farm.state.FarmState.FarmUnit;
import io.kiln.flow.plan.PlanReader.PlanCells;
import io.kiln.flow.plan.PlanReader.PlanCells.PlanCell;
import io.kiln.flow.plan.PlanReader.TestPlan;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.MachineSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.FarmUse;
import io.kiln.flow.spec.ImageSpec;
import io.kiln.flow.state.UnforeseenFailure;
import io.kiln.pages.JteplanGenerated;
import io.kiln.report.JUnitXml;
import io.kiln.report.Json;
import io.kiln.report.PlanReport;
import io.kiln.report.PlanReport.Cell;
import io.kiln.report.PlanReport.Result;
import io.kiln.report.PlanReport.Run;
import io.kiln.report.VerifyReport;
import io.kiln.report.page.Page;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Verifies models on many boards, as a test plan says, and writes what became of each as JUnit XML and as a page.
 *
 * @param log gets a line for each cell
 * @param base the build, of which each cell is one for another board
 */
public record PlanStep(Log log, BuildSpec base, Builder builder) {
    /** Cells at once: a farm runs images of some while others are compiled here. */
    private static final int AT_ONCE = 4;

    private static final int MOST_LINES = 12;

    /** What fails when an image has answered. */
    private static final Set<Failure> VERIFIED = Set.of(Failure.VERIFY);

    /** What fails when there is an image. */
    private static final Set<Failure> IMAGE_MADE =
            Set.of(Failure.VERIFY, Failure.RUN, Failure.RPC, Failure.DEVICE, Failure.FLASH, Failure.FARM);

    /** Builds and verifies, with messages that go to a log of the cell. */
    @FunctionalInterface
    public interface Builder {
        /**
         * Builds and verifies.
         *
         * @throws KilnException if anything is wrong
         */
        void build(Log log, BuildSpec spec);
    }

    /**
     * Runs a plan.
     *
     * @param file the plan
     * @throws KilnException if it is wrong, or with all cells that failed
     */
    public void run(Path file) {
        if (!base.malformed().isEmpty()) {
            throw new KilnException(base.malformed());
        }
        TestPlan plan = PlanReader.read(file, base.layout().project(), base.models());
        Optional<List<FarmUnit>> farm = base.farm().map(use -> FarmUnit.of(FarmQuestion.ask(use.address())));
        Labels usual = base.farm().map(use -> use.terms().needs()).orElse(Labels.NONE);
        List<PlanCell> cells = new PlanCells(base.boards(), farm, usual)
                .of(plan, plan.models().isEmpty() ? base.models() : plan.models());
        PlanReport report = new PlanReport(plan.title(), results(cells));
        Path xml = base.layout().reports().resolve("TEST-kiln-plan.xml");
        Path page = base.layout().reports().resolve("plan.html");
        JUnitXml.write(xml, report);
        WholeFiles.write(page, Page.of((out, html) -> JteplanGenerated.render(out, html, report)));
        tell(report, page);
    }

    private List<Cell> results(List<PlanCell> cells) {
        Set<String> folders = new HashSet<>();
        List<Supplier<Cell>> work = cells.stream()
                .<Supplier<Cell>>map(cell -> {
                    Layout layout = layout(cell, folders);
                    return () -> cell.missing().map(cell::without).orElseGet(() -> result(cell, layout));
                })
                .toList();
        return Parallel.map(
                work, AT_ONCE, Failure.COMPUTER.problem("the build was interrupted", "the test plan"), Supplier::get);
    }

    /**
     * A folder of its own for each cell, numbered if another cell has one of that name, or one that differs only in case: some systems' files
     * are the same then.
     *
     * @param folders those of the cells before, in lower case; the cell's own is added
     */
    private Layout layout(PlanCell cell, Set<String> folders) {
        String folder = folder(cell);
        for (int number = 2; !folders.add(folder.toLowerCase(Locale.ROOT)); number++) {
            folder = folder(cell) + "-" + number;
        }
        Path out = base.layout().reports().resolve("plan").resolve(folder);
        return new Layout(base.layout().project(), out, cell.model().name());
    }

    private static String folder(PlanCell cell) {
        return cell.model().name() + "/" + cell.on().name().toLowerCase(Locale.ROOT) + "/"
                + (cell.missing().isPresent() ? "missing" : cell.board())
                + (cell.unit().isEmpty() ? "" : "-" + cell.unit().replace('/', '-'));
    }

    private Cell result(PlanCell cell, Layout layout) {
        List<String> lines = Collections.synchronizedList(new ArrayList<>());
        long begin = System.nanoTime();
        List<Problem> problems = List.of();
        String reason = "";
        try {
            builder.build(kept(lines), spec(cell, layout));
        } catch (RuntimeException | Error e) {
            KilnException told = UnforeseenFailure.told(e);
            problems = told.problems();
            reason = told.getMessage();
            lines.addAll(reason.lines().toList());
        }
        Duration time = Duration.ofNanos(System.nanoTime() - begin);
        Path kept = layout.out().resolve("plan.log");
        WholeFiles.write(kept, String.join("\n", lines) + "\n");
        Run run = new Run(
                isOf(VERIFIED, problems) ? ranOn(layout) : "",
                time,
                isOf(IMAGE_MADE, problems) ? digest(layout) : "",
                base.layout().reports().relativize(kept).toString().replace('\\', '/'),
                lines);
        Result result = reason.isEmpty() ? Result.PASSED : Result.FAILED;
        return new Cell(cell.model().name(), cell.shown(), result, reason, Optional.of(run));
    }

    /** Whether nothing failed, or what failed comes after a step: what an earlier run left in the folder is not of this one. */
    private static boolean isOf(Set<Failure> after, List<Problem> problems) {
        return problems.stream().allMatch(problem -> after.contains(problem.family()));
    }

    private BuildSpec spec(PlanCell cell, Layout layout) {
        MachineSpec machine = new MachineSpec(
                cell.board(),
                base.machine().toolchain(),
                base.machine().boardSources(),
                base.machine().update());
        VerifySpec usual = base.verify();
        VerifySpec verify = new VerifySpec(
                cell.on(),
                vectors(cell.model()),
                usual.samples(),
                usual.seed(),
                usual.program(),
                usual.line(),
                usual.original());
        ImageSpec image = base.image().with(verify);
        return base.with(layout)
                .with(List.of(cell.model()))
                .with(machine)
                .with(image.onFarm(base.farm()
                        .map(use -> new FarmUse(use.address(), use.terms().with(cell.needs())))));
    }

    /** The model's own vectors, or those of the build: with several models each has a folder there. */
    private Optional<Path> vectors(ModelSource model) {
        if (model.vectors().isPresent()) {
            return model.vectors();
        }
        return base.verify()
                .vectors()
                .map(folder -> base.models().size() > 1 ? folder.resolve(model.name()) : folder)
                .filter(Files::isDirectory);
    }

    private static String ranOn(Layout layout) {
        Path verified = layout.reports().resolve("verify.json");
        return Files.isRegularFile(verified)
                ? Json.read(verified, VerifyReport.class).ranOn()
                : "";
    }

    private static String digest(Layout layout) {
        Path elf = layout.image("elf");
        return Files.isRegularFile(elf) ? Digests.sha256(elf) : "";
    }

    private static Log kept(List<String> lines) {
        return Log.of(lines::add, line -> lines.add("Warning: " + line), line -> {});
    }

    private void tell(PlanReport report, Path page) {
        boolean isShort = report.cells().size() <= MOST_LINES;
        Problems problems = new Problems(Failure.VERIFY);
        for (Cell cell : report.cells()) {
            String name = cell.model() + " on " + cell.board();
            String line = name + ": " + cell.result().name().toLowerCase(Locale.ROOT)
                    + cell.run()
                            .map(run -> String.format(
                                    Locale.ROOT, ", %.1f s", run.time().toMillis() / 1000.0))
                            .orElse(": " + cell.reason());
            if (isShort) {
                log.info(line);
            } else {
                log.debug(line);
            }
            if (cell.result() == Result.FAILED) {
                problems.add(
                        name + ": " + cell.reason(),
                        cell.run()
                                .map(run -> page.resolveSibling(run.log()).toString())
                                .orElse(""));
            }
        }
        log.info(report.title() + ": " + report.count(Result.PASSED) + " passed, " + report.count(Result.FAILED)
                + " failed, " + report.count(Result.SKIPPED) + " skipped; " + page);
        problems.throwIfAny();
    }
}
