// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.bench.BenchData.Published;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.frontend.tflite.ZooNetworks;
import io.kiln.report.BuildReport;
import io.kiln.report.BuildReport.MemoryUse;
import io.kiln.report.CycleReport.BoardCycles;
import io.kiln.report.Json;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Networks of ST's model zoo as a default build has them for the board that ST measured on, or for one with the same core, caches and clock,
 * beside what ST published: {@code src/test/bench.sh --zoo [name]...}, names being those of {@link ZooNetworks}. Cycles are
 * {@code kiln:profile}'s. The most of them on a Cortex-M7 holds, beyond that, that all activations come from and go to RAM behind the data
 * cache once a layer, which the profile takes for free. Flash is the whole image's; so is RAM, without its stack and with copies of weights
 * apart.
 */
public final class ZooBench {
    private static final double KIB = 1024;
    private static final double MEGA = 1e6;
    private static final double MILLI = 1e3;
    private static final String FLASH = "flash";
    private static final int LINE = 32;

    /** The most that a line of RAM over the AXI bus takes. */
    private static final int LINE_CYCLES = 10;

    private ZooBench() {}

    /** Prints a row for each network. */
    public static void main(String[] args) {
        BenchData data = BenchData.load();
        System.out.println(
                "| network, board | million products | million cycles | from | to | ms | from | to | ST's | flash, KiB"
                        + " | ST's | RAM, KiB | ST's |");
        (args.length > 0 ? List.of(args) : ZooNetworks.names())
                .forEach(name -> print(name, data.zoo().get(name)));
    }

    private static void print(String name, Published published) {
        try {
            System.out.println(row(name, published, profiled(name, published.board())));
        } catch (KilnException e) {
            System.out.println("| " + name + ", " + published.board() + " | not built: " + e.getMessage() + " |");
        }
    }

    private static BuildReport profiled(String name, String board) {
        Path folder = Path.of("target", "bench", "zoo-" + name).toAbsolutePath();
        Path model = folder.resolve("model.tflite");
        WholeFiles.write(model, ZooNetworks.network(name).file());
        BuildSpec spec = SpecDraft.of(
                        new Layout(folder, folder.resolve("out"), "zoo"), List.of(new ModelSource(model, "zoo")), board)
                .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0))
                .build();
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).profile(spec);
        return Json.read(folder.resolve("out/kiln/report.json"), BuildReport.class);
    }

    private static String row(String name, Published published, BuildReport report) {
        BoardCycles cycles = report.estimate().memory().cycles();
        double perMillisecond = report.estimate().hertz() / MILLI;
        long high = cycles.high() + (report.estimate().core().contains("M7") ? activations(report) : 0);
        return String.format(
                Locale.ROOT,
                "| %s, %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.0f | %.0f | %.0f + %.0f | %.0f |",
                name,
                report.board(),
                report.macs() / MEGA,
                cycles.expected() / MEGA,
                cycles.low() / MEGA,
                high / MEGA,
                cycles.expected() / perMillisecond,
                cycles.low() / perMillisecond,
                high / perMillisecond,
                published.milliseconds(),
                report.flash().total() / KIB,
                published.flash(),
                ram(report) / KIB,
                report.ram().data() / KIB,
                published.ram());
    }

    /** The most that activations of one byte take that no cache holds from layer to layer. */
    private static long activations(BuildReport report) {
        long bytes = report.operators().stream()
                .flatMap(operator -> Stream.concat(operator.inputs().stream(), operator.outputs().stream()))
                .mapToLong(tensor -> tensor.shape().stream().reduce(1, (a, b) -> a * b))
                .sum();
        return LINE_CYCLES * bytes / LINE;
    }

    private static long ram(BuildReport report) {
        return report.memories().stream()
                        .filter(memory -> !memory.name().equals(FLASH))
                        .mapToLong(MemoryUse::used)
                        .sum()
                - report.ram().stack()
                - report.ram().data();
    }
}
