// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.bench.BenchData.Core;
import io.kiln.bench.BenchData.Kind;
import io.kiln.bench.BenchData.Row;
import io.kiln.bench.BenchImage.Setting;
import io.kiln.bench.BenchResult.Figures;
import io.kiln.bench.Disassembly.Tally;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.report.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** Measures models against their goals and the peer's figures; {@link BenchOptions} says how it is called. */
public final class Bench {
    private final BenchOptions options;
    private final BenchData data = BenchData.load();
    private final List<BenchResult> results = new ArrayList<>();
    private final List<BenchComparison> comparisons = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();

    private Bench(BenchOptions options) {
        this.options = options;
    }

    /** Ends with 1 if an image is not bit exact, does not build, or holds what it must not. */
    public static void main(String[] args) {
        int code = new Bench(BenchOptions.parse(List.of(args))).run();
        if (code != 0) {
            System.exit(code);
        }
    }

    private int run() {
        List<Row> rows = Stream.concat(
                        data.rows().stream(), options.models().stream().flatMap(model -> data.rowsOf(model).stream()))
                .filter(options::selects)
                .toList();
        if (rows.isEmpty()) {
            System.out.println("no row matches; there are: "
                    + data.rows().stream().map(Row::id).toList());
            return 1;
        }
        Path plugin = plugin(options.out());
        BenchTable.heading();
        for (Row row : rows) {
            try {
                BenchResult result = measure(row, plugin);
                results.add(result);
                BenchTable.print(result);
                compare(row, result, plugin);
                if (!result.images().stream().allMatch(Figures::bitExact)) {
                    failures.add(row.id() + ": outputs differ from the golden ones");
                }
            } catch (RuntimeException e) {
                failures.add(row.id() + ": " + e.getMessage());
                System.out.println(row.id() + "  FAILED (see below)");
            }
        }
        Path json = options.out().resolve("bench.json");
        Json.write(json, results);
        WholeFiles.write(options.out().resolve("bench.md"), BenchMarkdown.table(data.toolchains(), results));
        if (!comparisons.isEmpty()) {
            String table = BenchComparison.table(comparisons);
            WholeFiles.write(options.out().resolve("tuned.md"), table);
            System.out.print(table);
        }
        long met = results.stream().filter(BenchResult::met).count();
        System.out.printf(Locale.ROOT, "%d of %d goals met; %s%n", met, rows.size(), json);
        failures.forEach(failure -> System.out.println("FAILED " + failure));
        return failures.isEmpty() ? 0 : 1;
    }

    private void compare(Row row, BenchResult result, Path plugin) {
        if (!options.tuning().compares() || row.kind() != Kind.INSTRUCTIONS) {
            return;
        }
        Setting setting = setting(row, Optimize.SPEED, Io.CALLER);
        Setting rules = new Setting(setting.toolchain(), setting.optimize(), setting.io(), Optional.empty());
        BenchComparison comparison = new BenchComparison(
                row,
                setting.records().orElseThrow(),
                figures(row, rules, plugin),
                result.images().get(0));
        comparisons.add(comparison);
        comparison.failure().ifPresent(failure -> failures.add(row.id() + ": " + failure));
    }

    private BenchResult measure(Row row, Path plugin) {
        return switch (row.kind()) {
            case INSTRUCTIONS -> {
                Figures image = figures(row, Optimize.SPEED, Io.CALLER, plugin);
                yield BenchResult.of(row, image.instructions(), true, List.of(image));
            }
            case FLASH, SIZE -> {
                Figures image = figures(row, Optimize.SIZE, Io.CALLER, plugin);
                Figures speed = figures(row, Optimize.SPEED, Io.CALLER, plugin);
                boolean met = image.cycles().expected()
                        <= data.sizeCyclesOfSpeed() * speed.cycles().expected();
                yield BenchResult.of(row, image.flash() + data.benchProgramBytes(), met, List.of(image, speed));
            }
            case RAM -> {
                Figures image = figures(row, Optimize.RAM, Io.WORKSPACE, plugin);
                Figures speed = figures(row, Optimize.SPEED, Io.WORKSPACE, plugin);
                boolean met = image.stack() <= data.stackGoal()
                        && speed.ram() <= data.speedAboveRam() * image.ram()
                        && image.cycles().expected()
                                <= data.ramCyclesOfSpeed() * speed.cycles().expected();
                yield BenchResult.of(row, image.ram(), met, List.of(image, speed));
            }
            case LAYERS -> {
                Figures image = figures(row, Optimize.SPEED, Io.CALLER, plugin);
                List<LayerCost> costs = LayerCost.of(image.operators());
                BenchTable.print(costs);
                yield BenchResult.of(row, LayerCost.most(costs), true, List.of(image));
            }
            case GENERATE -> BenchResult.of(row, GenerateTime.millis(model(row), options.out()), true, List.of());
        };
    }

    /** The row's model file, written first if it is made up. */
    private Path model(Row row) {
        String golden = row.goal().goal() == 0 ? row.model() : data.models().getOrDefault(row.model(), "");
        if (!golden.isEmpty()) {
            return options.golden().resolve(golden).resolve("model.tflite");
        }
        if (row.kind() == Kind.LAYERS) {
            return HardLayers.write(options.out().resolve(row.model()));
        }
        Path file = options.out().resolve(row.model() + ".tflite");
        WholeFiles.write(file, LargeModel.write());
        return file;
    }

    private Setting setting(Row row, Optimize usual, Io usualIo) {
        return new Setting(
                row.toolchain(),
                options.optimize().orElse(usual),
                options.io().orElse(usualIo),
                options.tuning().objective());
    }

    private Figures figures(Row row, Optimize usual, Io usualIo, Path plugin) {
        return figures(row, setting(row, usual, usualIo), plugin);
    }

    private Figures figures(Row row, Setting setting, Path plugin) {
        Path model = model(row);
        Path golden = model.getParent();
        Path folder = options.out()
                .resolve(row.id() + "-" + setting.optimize().text() + "-"
                        + setting.io().text());
        int cases = 0;
        while (Files.exists(golden.resolve("output_" + cases + ".bin"))) {
            cases++;
        }
        Core core = data.cores().get(row.core());
        BenchImage image = BenchImage.build(folder, model, row.model(), core, setting, cases);
        if (!image.isFloat() && !image.forbidden().isEmpty()) {
            throw new IllegalStateException(
                    "the image holds what an integer model must not need: " + image.forbidden());
        }
        BenchRun run = BenchRun.of(image, golden, cases, plugin);
        Tally all = run.tallies().stream().reduce(new Tally(0, 0, 0, 0), Tally::plus);
        double byClock = run.ticks() * core.instructionsPerTick();
        if (all.instructions() != run.instructions()
                || Math.abs(byClock - run.instructions()) > 2 * core.instructionsPerTick() + 20) {
            throw new IllegalStateException(String.format(
                    Locale.ROOT,
                    "counts disagree: %d by blocks, %d by instructions, %.0f by the clock",
                    run.instructions(),
                    all.instructions(),
                    byClock));
        }
        return Figures.of(setting, image, run, options.perOperator() || row.kind() == Kind.LAYERS);
    }

    /** The counting plugin, compiled for this computer. */
    static Path plugin(Path folder) {
        Path source = folder.resolve("counter.c");
        Path plugin = folder.resolve("counter.so");
        try (InputStream in = Bench.class.getResourceAsStream("counter.c")) {
            WholeFiles.write(source, in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        ProcessResult result = ProcessRunner.run(Command.of(
                "cc",
                "-O2",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-shared",
                "-fPIC",
                "-o",
                plugin.toString(),
                source.toString()));
        if (!result.succeeded()) {
            throw new IllegalStateException("the counting plugin does not compile: " + result.message());
        }
        return plugin;
    }
}
