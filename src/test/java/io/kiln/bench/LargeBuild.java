// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.base.Log;
import io.kiln.compile.ChainModel;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Builds a model of thousands of operators step by step and prints what each step takes. */
public final class LargeBuild {
    private LargeBuild() {}

    /** Arguments: {@code chain}, {@code recurrent} or {@code wide}, the number of operators, a board, a folder, and the last step. */
    public static void main(String[] args) throws IOException {
        Path out = Path.of(args[3]).toAbsolutePath();
        Files.createDirectories(out);
        Path model = out.resolve("large.tflite");
        int operators = Integer.parseInt(args[1]);
        Files.write(
                model,
                switch (args[0]) {
                    case "chain" -> ChainModel.write(operators);
                    case "recurrent" -> ChainModel.recurrent(operators);
                    default -> ChainModel.wide(operators);
                });
        Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET).withoutObjectCache());
        BuildSpec spec = SpecDraft.of(
                        new Layout(out.resolve("project"), out, "large"),
                        List.of(new ModelSource(model, "large")),
                        args[2])
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.empty(), 1, 0))
                .build();
        Map<String, Runnable> steps = new LinkedHashMap<>();
        steps.put("generate", () -> flow.generate(spec));
        steps.put("assemble", () -> flow.assemble(spec));
        steps.put("compile", () -> flow.compile(spec));
        steps.put("link", () -> flow.link(spec));
        steps.put("verify", () -> flow.verify(spec, DeviceSpec.USUAL));
        steps.put("build", () -> flow.build(spec, DeviceSpec.USUAL));
        steps.put("profile", () -> flow.profile(spec));
        for (Map.Entry<String, Runnable> step : steps.entrySet()) {
            step(step.getKey(), step.getValue());
            if (step.getKey().equals(args[4])) {
                break;
            }
        }
        sizes(out);
    }

    private static void step(String name, Runnable step) throws IOException {
        double[] before = cpu();
        long start = System.nanoTime();
        step.run();
        double[] after = cpu();
        System.gc();
        System.out.printf(
                Locale.ROOT,
                "%-9s java %6.1f s, others %6.1f s, wall %6.1f s, heap kept %d MB%n",
                name,
                after[0] - before[0],
                after[1] - before[1],
                (System.nanoTime() - start) / 1e9,
                (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) >> 20);
    }

    /** Processor seconds of this process and of its children that have ended. */
    private static double[] cpu() throws IOException {
        String[] fields = Files.readString(Path.of("/proc/self/stat"))
                .replaceFirst(".*\\) ", "")
                .split(" ", -1);
        return new double[] {
            (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0,
            (Long.parseLong(fields[13]) + Long.parseLong(fields[14])) / 100.0
        };
    }

    private static void sizes(Path out) throws IOException {
        try (Stream<Path> files = Files.walk(out)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                if (Files.size(file) > 200_000) {
                    System.out.println("  " + Files.size(file) + " " + out.relativize(file));
                }
            }
        }
    }
}
