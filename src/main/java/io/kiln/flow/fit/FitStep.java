// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.fit;

import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.FolderLock;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.ParameterValue;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.codegen.c.UsedIntrinsics;
import io.kiln.compile.CompiledModel;
import io.kiln.device.emulator.Emulator;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareLinker.Roomy;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.firmware.image.Measurement;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.fit.FitRun.FitImage;
import io.kiln.flow.fit.FitRun.FitImages;
import io.kiln.flow.fit.FitRun.FitWay;
import io.kiln.flow.page.BuildPage;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.state.Steps;
import io.kiln.flow.verify.ProfileStep.ImageProfile;
import io.kiln.report.FrontReport;
import io.kiln.report.Json;
import io.kiln.schedule.GoalMix;
import io.kiln.schedule.LayerGoal;
import io.kiln.tir.PrimFunc;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.tuning.fit.FitSearch.FitLimits;
import io.kiln.tuning.fit.FitTable.FitCost;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToLongFunction;

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
            return way(Json.read(choice(), FrontReport.class).taken().way()).applied(build);
        }
    }

    /** What was found for builds to come; {@link #file} may show a later front. */
    private Path choice() {
        return layout.reports().resolve("state").resolve("fit-choice.json");
    }

    private Fingerprint fingerprint(String result) {
        return new GenerateStep(Log.QUIET, build).inputs(result);
    }

    private Path search() {
        FrontReport found = measuring((run, images) -> {
            FitWay fastest = run.fastest()
                    .orElseThrow(
                            () -> new KilnException(nothingFits(build.board().id(), limits, images.all())));
            return report(run, images, fastest);
        });
        Json.write(choice(), found);
        return choice();
    }

    /** Measures the front of the build's images, with the build's own among them. */
    public void front() {
        FrontReport found = measuring((run, images) -> {
            FitWay own = own();
            images.measured(own);
            run.front();
            return report(run, images, own);
        });
        BuildPage.write(layout);
        found.lines().forEach(log::answer);
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

    private FrontReport measuring(Work work) {
        build.requireRunsOn();
        Path folder = layout.reports().resolve("fit");
        try {
            FitImages images = new FitMeasurer(build, folder);
            FrontReport report = work.report(new FitRun(log, images, limits), images);
            Json.write(file(layout), report);
            log.info("Measured " + report.images().size() + " images; taken: "
                    + report.taken().text().strip());
            return report;
        } finally {
            WholeFiles.clear(folder);
        }
    }

    private FrontReport report(FitRun run, FitImages images, FitWay taken) {
        FitImage own = images.measured(taken).orElseThrow();
        List<FitWay> ways = run.different();
        List<FitCost> costs =
                ways.stream().map(way -> images.all().get(way).cost()).toList();
        List<FrontReport.Image> measured = new ArrayList<>();
        for (FitWay way : ways) {
            FitImage image = images.all().get(way);
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

    /** What to say if none of the measured images fits the board. */
    private static Problem nothingFits(String board, FitLimits limits, Map<FitWay, FitImage> images) {
        Optional<String> flash = least(images, FitCost::flash);
        Optional<String> ram = least(images, FitCost::ram);
        return Failure.MEMORY.problem(
                flash.isEmpty() || ram.isEmpty()
                        ? "no image is small enough to run in the emulator"
                        : "none of " + images.size() + " images fits: the least flash takes " + flash.get()
                                + ", the least RAM " + ram.get(),
                "board " + board + ", kiln.optimize=fit",
                limit("flash", limits.flash()) + " and " + limit("RAM", limits.ram()),
                "Raise kiln.limit.flash or kiln.limit.ram, or take a smaller model or a board with more memory");
    }

    private static Optional<String> least(Map<FitWay, FitImage> images, ToLongFunction<FitCost> memory) {
        return images.entrySet().stream()
                .min(Comparator.comparingLong(
                        image -> memory.applyAsLong(image.getValue().cost())))
                .map(FitStep::text);
    }

    private static String text(Entry<FitWay, FitImage> image) {
        FitCost cost = image.getValue().cost();
        return String.format(
                Locale.ROOT,
                "%,d bytes with %,d of RAM (%s)",
                cost.flash(),
                cost.ram(),
                image.getKey().text());
    }

    private static String limit(String memory, OptionalLong bytes) {
        return bytes.isPresent()
                ? String.format(Locale.ROOT, "at most %,d bytes of %s", bytes.getAsLong(), memory)
                : "the board's " + memory;
    }

    /**
     * Makes images of a build in different ways beside its own outputs, and measures their memory and, in an emulator, their cycles. An image may be larger
     * than its board. What was measured once is not measured again.
     */
    static final class FitMeasurer implements FitImages {
        private static final Duration LIMIT = Duration.ofMinutes(10);

        /** Options of a target that say which core it is. */
        private static final List<String> CORE = List.of("mcpu", "march");

        private final ResolvedBuild build;
        private final Path folder;
        private final Map<FitWay, FitImage> images = new LinkedHashMap<>();
        private final Map<String, Optional<FitImage>> byContent = new HashMap<>();

        /**
         * @param folder for the files of images, which may be removed afterwards
         */
        FitMeasurer(ResolvedBuild build, Path folder) {
            this.build = build;
            this.folder = folder;
        }

        @Override
        public Map<FitWay, FitImage> all() {
            return Collections.unmodifiableMap(images);
        }

        @Override
        public Optional<FitImage> measured(FitWay way) {
            if (images.containsKey(way)) {
                return Optional.of(images.get(way));
            }
            Optional<FitImage> image = made(way);
            image.ifPresent(known -> images.put(way, known));
            return image;
        }

        private Optional<FitImage> made(FitWay way) {
            ResolvedBuild other = way.applied(build);
            GenerateStep.Libraries libraries = new GenerateStep(Log.QUIET, other).libraries();
            String content = content(way, libraries.linked());
            Optional<FitImage> known = byContent.get(content);
            if (known == null) {
                known = built(other, libraries);
                byContent.put(content, known);
            }
            return known;
        }

        /** Different goals often give the same code. */
        private static String content(FitWay way, List<ModelLibrary> libraries) {
            StringBuilder all = new StringBuilder(way.code().text());
            libraries.stream()
                    .flatMap(library -> library.artifacts().artifacts().stream())
                    .forEach(artifact -> all.append('\n')
                            .append(artifact.fileName())
                            .append(' ')
                            .append(Digests.sha256(artifact.content().toArray())));
            return all.toString();
        }

        private Optional<FitImage> built(ResolvedBuild other, GenerateStep.Libraries libraries) {
            FirmwareSteps steps = new FirmwareSteps(Log.QUIET, other);
            FirmwareRequest request = steps.request(libraries.linked(), FirmwareRequest.Folders.in(folder));
            CompiledObjects objects =
                    FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
            Roomy image = FirmwareLinker.roomy(objects, folder).orElseGet(() -> {
                // The message says why.
                FirmwareLinker.link(objects, folder, "measured", Log.QUIET);
                throw new IllegalStateException("it links only sometimes");
            });
            List<ModelMetadata> models =
                    libraries.linked().stream().map(ModelLibrary::metadata).toList();
            Set<String> kernels = new TreeSet<>();
            libraries
                    .compiled()
                    .forEach(model -> UsedIntrinsics.kernels(model.code().functions())
                            .forEach(kernel -> kernels.add(kernel.name())));
            return runsOn(other, image.measurement())
                    .map(runsOn -> new FitImage(
                            image.measurement(),
                            profile(other, runsOn, request, objects, image.elf(), models),
                            parts(libraries.compiled(), ElfFile.read(image.elf())),
                            kernels,
                            needs(models)));
        }

        /** What runs an image: for one that does not fit in its board the largest emulated board with the same core, if its own would run it otherwise. */
        private static Optional<Board> runsOn(ResolvedBuild build, Measurement measured) {
            Board usual = build.requireRunsOn();
            if (build.hasStandIn() || measured.fits()) {
                return Optional.of(usual);
            }
            Boards boards = build.spec().boards();
            return boards.ids().stream()
                    .map(boards::find)
                    .filter(board -> board.emulation() instanceof Emulation.Qemu)
                    .filter(board -> CORE.stream()
                            .allMatch(option -> board.targetOption(option).equals(usual.targetOption(option))))
                    .filter(board -> bytes(board) > bytes(usual))
                    .max(Comparator.comparingLong(FitMeasurer::bytes));
        }

        private static long bytes(Board board) {
            return board.memories().stream().mapToLong(Board.Memory::size).sum();
        }

        private ImageProfile profile(
                ResolvedBuild other,
                Board runsOn,
                FirmwareRequest request,
                CompiledObjects objects,
                Path boardImage,
                List<ModelMetadata> models) {
            Path runFolder = folder.resolve("run");
            FirmwareRequest first = request.on(runsOn, runFolder);
            FirmwareRequest run = first.with(first.content().replacingMain(Application.CONSOLE));
            CompiledObjects relinked =
                    FirmwareCompiler.compileStandIn(FirmwareAssembler.assemble(run, Log.QUIET), objects, Log.QUIET);
            Path elf =
                    FirmwareLinker.link(relinked, runFolder, "image", Log.QUIET).elf();
            Emulator emulator = new Emulator(
                    runsOn,
                    LIMIT,
                    Optional.of(folder.resolve("profile.log")),
                    other.spec().semihosting());
            return ImageProfile.brief(other, emulator, elf, boardImage, models);
        }

        /** What operators have in the image: function, tables and micro-kernels with their bytes, by the operator's name. */
        private static Map<String, SortedMap<String, Long>> parts(List<CompiledModel> models, ElfFile elf) {
            Map<String, Long> bytes = new HashMap<>();
            elf.symbols().stream()
                    .filter(symbol -> symbol.size() > 0)
                    .forEach(symbol -> bytes.put(symbol.name(), symbol.size()));
            Map<String, SortedMap<String, Long>> parts = new LinkedHashMap<>();
            for (CompiledModel model : models) {
                for (PrimFunc function : model.code().functions()) {
                    Set<String> names = new HashSet<>(Set.of(function.name()));
                    function.constants().forEach(table -> names.add(table.symbol()));
                    UsedIntrinsics.kernels(List.of(function)).forEach(kernel -> names.add(kernel.name()));
                    SortedMap<String, Long> own = new TreeMap<>();
                    names.stream().filter(bytes::containsKey).forEach(name -> own.put(name, bytes.get(name)));
                    parts.put(function.name(), own);
                }
            }
            return parts;
        }

        /** Bytes of the workspace that are alive while an operator runs, by its name. */
        private static Map<String, Long> needs(List<ModelMetadata> models) {
            Map<String, Long> needs = new HashMap<>();
            for (ModelMetadata model : models) {
                for (int i = 0; i < model.operators().size(); i++) {
                    int step = i;
                    OperatorInfo operator = model.operators().get(i);
                    long alive = model.plan().buffers().stream()
                            .filter(buffer -> buffer.firstUse() <= step && step <= buffer.lastUse())
                            .mapToLong(ModelMetadata.PlannedBuffer::bytes)
                            .sum();
                    needs.put(operator.name(), alive);
                }
            }
            return needs;
        }
    }
}
