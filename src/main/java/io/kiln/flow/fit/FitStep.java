// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.fit;

import io.kiln.base.Failure;
import io.kiln.base.FolderLock;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.ParameterValue;
import io.kiln.base.Problem;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.page.BuildPage;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.state.FreshFolder;
import io.kiln.flow.state.Steps;
import io.kiln.report.FrontReport;
import io.kiln.report.Json;
import io.kiln.schedule.GoalMix;
import io.kiln.schedule.LayerGoal;
import io.kiln.tuning.fit.FitCost;
import io.kiln.tuning.fit.FitLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Searches the fastest image of a build within its memory, and the front of all images. What was found is in {@code front.json}, and holds until an input
 * of the build changes.
 */
public final class FitStep {
    /** Counts as a file of the build's lock. */
    private static final String LOCK = "build.lock-fit";

    private static final Duration PATIENCE = Duration.ofMinutes(30);

    private final Log log;
    private final ResolvedBuild build;
    private final Layout layout;
    private final FitLimits limits;

    public FitStep(Log log, ResolvedBuild build) {
        this.log = log;
        this.build = build;
        this.layout = build.spec().layout();
        this.limits = build.spec().compiler().fit().limits();
    }

    /** The file with what was found. */
    public static Path file(Layout layout) {
        return layout.reports().resolve("front.json");
    }

    /**
     * The build as it is made if {@code kiln.optimize} is {@code fit}: its goals are those of the fastest image that fits.
     *
     * @throws KilnException if no image fits
     */
    public ResolvedBuild settled() {
        // Whoever asks may already hold the lock of the folder, or not.
        try (FolderLock lock = FolderLock.acquire(
                layout.reports(),
                LOCK,
                "kiln.optimize=fit",
                PATIENCE,
                holder -> log.info("Waiting for another search in " + layout.out() + ": " + holder))) {
            lock.guarding(layout.out());
            new Steps(log, layout)
                    .run("Searching the fastest image that fits", fingerprint("fit"), () -> List.of(search()));
            return way(Json.read(file(layout), FrontReport.class).taken().way()).applied(build);
        }
    }

    private Fingerprint fingerprint(String result) {
        return new GenerateStep(Log.QUIET, build).inputs(result);
    }

    private Path search() {
        return measuring((run, images) -> {
            FitWay fastest = run.fastest().orElseThrow(() -> new KilnException(nothingFits(images)));
            return report(run, images, fastest);
        });
    }

    /** Measures the front of the build's images, with the build's own among them. */
    public void front() {
        Path file = measuring((run, images) -> {
            FitWay own = own();
            images.measured(own);
            run.front();
            return report(run, images, own);
        });
        BuildPage.write(layout);
        Json.read(file, FrontReport.class).lines().forEach(log::info);
    }

    /** How this build is made. */
    private FitWay own() {
        Optimize code = build.spec().optimize();
        return build.spec()
                .compiler()
                .options()
                .mix()
                .map(mix -> new FitWay(code, mix))
                .orElseGet(() -> FitWay.of(code));
    }

    /** What measures and makes a report of it. */
    private interface Work {
        FrontReport report(FitRun run, FitImages images);
    }

    private Path measuring(Work work) {
        build.requireRunsOn();
        Path folder = layout.reports().resolve("fit");
        try {
            FitImages images = new FitMeasurer(build, folder);
            FrontReport report = work.report(new FitRun(log, images, limits), images);
            Json.write(file(layout), report);
            log.info("Measured " + report.images().size() + " images; taken: "
                    + report.taken().text().strip());
            return file(layout);
        } finally {
            FreshFolder.clear(folder);
        }
    }

    private FrontReport report(FitRun run, FitImages images, FitWay taken) {
        FitImage own = images.measured(taken);
        List<FitWay> ways = run.different();
        List<FitCost> costs =
                ways.stream().map(way -> images.measured(way).cost()).toList();
        List<FrontReport.Image> measured = new ArrayList<>();
        for (FitWay way : ways) {
            FitImage image = images.measured(way);
            FitCost cost = image.cost();
            boolean isTaken = cost.equals(own.cost());
            FitWay named = isTaken ? taken : way;
            measured.add(new FrontReport.Image(
                    named.text(),
                    cost.cycles(),
                    cost.flash(),
                    cost.ram(),
                    run.fits(image),
                    costs.stream().noneMatch(other -> other.beats(cost)),
                    isTaken,
                    way(named)));
        }
        return new FrontReport(
                build.board().id(),
                own.currency(),
                limits.flash().isPresent() ? limits.flash().getAsLong() : null,
                limits.ram().isPresent() ? limits.ram().getAsLong() : null,
                measured);
    }

    private static FrontReport.Way way(FitWay way) {
        boolean isMixed = way.parts().layers().values().stream().anyMatch(goal -> goal != LayerGoal.of(way.code()));
        SortedMap<String, String> layers = new TreeMap<>();
        if (isMixed) {
            way.parts().layers().forEach((layer, goal) -> layers.put(layer, goal.text()));
        }
        return new FrontReport.Way(way.code().text(), way.parts().plan().text(), layers);
    }

    private static FitWay way(FrontReport.Way way) {
        SortedMap<String, LayerGoal> layers = new TreeMap<>();
        way.layers().forEach((layer, goal) -> layers.put(layer, ParameterValue.of("goal", LayerGoal.class, goal)));
        return new FitWay(Optimize.of(way.code()), new GoalMix(Optimize.of(way.plan()), layers));
    }

    private Problem nothingFits(FitImages images) {
        List<Map.Entry<FitWay, FitImage>> all = List.copyOf(images.all().entrySet());
        Map.Entry<FitWay, FitImage> leastFlash = all.stream()
                .min(Comparator.comparingLong(image -> image.getValue().cost().flash()))
                .orElseThrow();
        Map.Entry<FitWay, FitImage> leastRam = all.stream()
                .min(Comparator.comparingLong(image -> image.getValue().cost().ram()))
                .orElseThrow();
        return Failure.MEMORY.problem(
                "none of " + all.size() + " images fits: the least flash takes " + text(leastFlash) + ", the least RAM "
                        + text(leastRam),
                "board " + build.board().id() + ", kiln.optimize=fit",
                limit(
                                "flash",
                                limits.flash().isPresent()
                                        ? Optional.of(limits.flash().getAsLong())
                                        : Optional.empty())
                        + " and "
                        + limit(
                                "RAM",
                                limits.ram().isPresent()
                                        ? Optional.of(limits.ram().getAsLong())
                                        : Optional.empty()),
                "Raise kiln.limit.flash or kiln.limit.ram, or take a smaller model or a board with more memory;"
                        + " kiln:profile -Dkiln.front shows what there is between");
    }

    private static String text(Map.Entry<FitWay, FitImage> image) {
        FitCost cost = image.getValue().cost();
        return String.format(
                Locale.ROOT,
                "%,d bytes with %,d of RAM (%s)",
                cost.flash(),
                cost.ram(),
                image.getKey().text());
    }

    private static String limit(String memory, Optional<Long> bytes) {
        return bytes.map(most -> String.format(Locale.ROOT, "at most %,d bytes of %s", most, memory))
                .orElse("the board's " + memory);
    }
}
