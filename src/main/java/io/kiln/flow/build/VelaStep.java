// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FolderLock;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.Printable;
import io.kiln.base.WholeFiles;
import io.kiln.base.WholeFiles.TemporaryFolder;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.compile.Frontends;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.resolve.VelaProgram;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec.VelaSpec;
import io.kiln.flow.state.Steps;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.op.call.EthosU;
import io.kiln.npu.DriverPayload;
import io.kiln.report.Json;
import io.kiln.report.NpuReport.VelaRun;
import io.kiln.toolchain.board.BoardNpu;
import io.kiln.toolchain.board.BoardNpu.VelaMemories;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Has Vela compile the models of a build that asks for it. A result holds until the model, Vela's options, its configuration file or its
 * version change. What Vela leaves is read as a stranger's file is.
 */
public final class VelaStep {
    private static final String LOCK = "build.lock-vela";
    private static final Duration PATIENCE = Duration.ofMinutes(30);
    private static final String OUT = "out";
    private static final String RESULT = "_vela.tflite";
    private static final int MOST_STAYED = 200;
    private static final int MOST_TEXT = 400;
    private static final long MOST_TABLE = 1 << 16;

    private static final double MILLI = 1000;

    /** Columns of the table {@code NAME_summary_SYSTEM.csv}, and their names in reports. */
    private static final Map<String, String> COLUMNS = Map.of(
            "cycles_total", "cycles",
            "inference_time", "milliseconds",
            "sram_memory_used", "sramKiB",
            "dram_memory_used", "dramKiB",
            "on_chip_flash_memory_used", "onChipFlashKiB",
            "off_chip_flash_memory_used", "offChipFlashKiB");

    private final Log log;
    private final ResolvedBuild build;
    private final Layout layout;

    public VelaStep(Log log, ResolvedBuild build) {
        this.log = log;
        this.build = build;
        this.layout = build.spec().layout();
    }

    /**
     * The build of what Vela leaves; the same build if it does not ask for Vela.
     *
     * @throws KilnException if Vela fails, or leaves no model that Kiln reads
     */
    public ResolvedBuild compiled() {
        return build.spec()
                .codegens()
                .vela()
                .map(vela -> compiled(vela, VelaProgram.find(vela)))
                .orElse(build);
    }

    /** The build of what a given Vela leaves. */
    ResolvedBuild compiled(VelaSpec vela, VelaProgram program) {
        // Whoever asks may already hold the lock of the folder, or not.
        try (FolderLock lock = FolderLock.acquire(
                layout.reports(),
                LOCK,
                "Vela",
                PATIENCE,
                holder -> log.info("Waiting for another Vela in " + layout.out() + ": " + holder))) {
            lock.guarding(layout.out());
            String version = program.version(vela);
            List<ModelSource> models = build.spec().models().stream()
                    .map(model -> new One(model, vela, program, version).made())
                    .toList();
            return build.with(build.spec().with(models), build.runsOn());
        }
    }

    private final class One {
        private final ModelSource model;
        private final VelaProgram program;
        private final String version;
        private final String configuration;
        private final List<String> arguments;
        private final Optional<VelaMemories> memories;

        One(ModelSource model, VelaSpec vela, VelaProgram program, String version) {
            this.model = model;
            this.program = program;
            this.version = version;
            this.configuration = vela.configuration();
            // A board knows the memories of its own NPU, and not those around another.
            this.memories = build.board()
                    .npu()
                    .filter(npu -> npu.configuration().equals(configuration))
                    .flatMap(BoardNpu::vela);
            this.arguments = arguments();
        }

        private List<String> arguments() {
            List<String> all = new ArrayList<>(
                    List.of(model.name() + ".tflite", "--accelerator-config", configuration, "--output-dir", OUT));
            if (build.spec().optimize() == Optimize.RAM) {
                all.addAll(List.of("--optimise", "Size"));
            }
            memories.ifPresent(told -> all.addAll(List.of(
                    "--config",
                    told.config(),
                    "--system-config",
                    told.systemConfig(),
                    "--memory-mode",
                    told.memoryMode())));
            return all;
        }

        ModelSource made() {
            Path folder = layout.reports().resolve("npu");
            String stem = model.file().getFileName().toString().replaceFirst("\\.tflite$", "");
            String name = build.spec().models().size() == 1 ? stem : stem + "-" + model.name();
            Path result = folder.resolve(name + RESULT);
            Path said = folder.resolve(name + RESULT + ".json");
            Fingerprint now = Fingerprint.of("vela-" + model.name())
                    .value("model", model.file())
                    .value("version of Vela", version)
                    .value("options", arguments)
                    .value("configuration", ownConfig())
                    .value(
                            "limits",
                            build.spec().options(build.board()).reading().limits());
            new Steps(log, layout).run("Vela " + version + " on " + model.file().getFileName(), now, () -> {
                Json.write(said, run(result, folder.resolve(name + RESULT + ".log")));
                return List.of(result, said);
            });
            return model.by(Json.read(said, VelaRun.class), result);
        }

        /** The configuration file, if it is the board's. */
        private Optional<Bytes> ownConfig() {
            return memories.flatMap(
                    told -> Optional.ofNullable(build.board().files().get(told.config())));
        }

        private VelaRun run(Path result, Path printed) {
            return TemporaryFolder.use("kiln-vela", work -> {
                WholeFiles.copy(model.file(), work.resolve(arguments.get(0)));
                ownConfig()
                        .ifPresent(content -> WholeFiles.write(
                                work.resolve(memories.orElseThrow().config()), content));
                String said = program.compile(work, arguments, printed);
                Path out = work.resolve(OUT);
                WholeFiles.copy(checked(out.resolve(model.name() + RESULT)), result);
                return VelaStep.run(version, arguments, said, out);
            });
        }

        /** The file that Vela left, if it is a model. */
        private Path checked(Path file) {
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                throw Failure.TOOL.exception(
                        "Vela ended without the file that it should have written",
                        OUT + "/" + file.getFileName(),
                        "the compiled model",
                        "Run it by hand, and report this if it writes the file elsewhere");
            }
            Function read = Frontends.read(
                    file,
                    model.name(),
                    model.shapes(),
                    build.spec().options(build.board()).reading());
            List<Binding> parts = read.bindings().stream()
                    .filter(binding -> binding.op() instanceof EthosU)
                    .toList();
            parts.forEach(this::checkNpu);
            if (parts.isEmpty()) {
                log.warn("Vela left all operators of " + model.name() + " on the core; the NPU has nothing to do");
            }
            return file;
        }

        private void checkNpu(Binding part) {
            String where = part.origin().text();
            String npu = DriverPayload.read(
                            part.constant(((EthosU) part.op()).payload()).data(),
                            (what, expected) -> Failure.MODEL.exception(what, where, expected))
                    .configuration()
                    .name();
            if (!npu.equals(configuration)) {
                throw Failure.TOOL.exception(
                        "Vela compiled the model for an " + npu,
                        where,
                        "a model for " + configuration + ", which --accelerator-config named",
                        "Run it by hand");
            }
        }
    }

    /**
     * The run for reports.
     *
     * @param out the folder that Vela wrote to
     * @throws IOException if it cannot be read
     */
    static VelaRun run(String version, List<String> arguments, String said, Path out) throws IOException {
        return new VelaRun(version, arguments, stayed(said), estimates(out));
    }

    /** Operators that stay on the core, each with the reasons in the lines below it. */
    private static List<String> stayed(String said) {
        List<String> stayed = new ArrayList<>();
        boolean isReason = false;
        for (String line : said.lines().toList()) {
            if (line.endsWith("Placing on CPU instead") || line.endsWith("is a CPU only op")) {
                stayed.add(line.replaceFirst("^(Warning|Info): ", ""));
                isReason = true;
            } else if (isReason && (line.startsWith(" - ") || line.startsWith("   "))) {
                int last = stayed.size() - 1;
                stayed.set(
                        last,
                        stayed.get(last)
                                + (line.startsWith(" - ") ? ": " : "; ")
                                + line.substring(2).strip());
            } else {
                isReason = false;
            }
        }
        return stayed.stream()
                .limit(MOST_STAYED)
                .map(text -> Printable.line(text.length() > MOST_TEXT ? text.substring(0, MOST_TEXT) + "…" : text))
                .toList();
    }

    private static SortedMap<String, Double> estimates(Path out) throws IOException {
        SortedMap<String, Double> estimates = new TreeMap<>();
        try (Stream<Path> files = Files.list(out)) {
            List<Path> tables = files.filter(VelaStep::isTable).sorted().toList();
            if (tables.size() != 1) {
                return estimates;
            }
            List<String> lines = new String(Files.readAllBytes(tables.get(0)), StandardCharsets.ISO_8859_1)
                    .lines()
                    .toList();
            if (lines.size() < 2) {
                return estimates;
            }
            String[] names = lines.get(0).split(",", -1);
            String[] values = lines.get(1).split(",", -1);
            for (int i = 0; i < Math.min(names.length, values.length); i++) {
                add(estimates, names[i].strip(), values[i].strip());
            }
        }
        return estimates;
    }

    private static boolean isTable(Path file) {
        try {
            return file.getFileName().toString().contains("_summary_")
                    && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                    && Files.size(file) <= MOST_TABLE;
        } catch (IOException e) {
            return false;
        }
    }

    private static void add(SortedMap<String, Double> estimates, String column, String text) {
        if (COLUMNS.containsKey(column) && text.matches("\\d{1,18}(\\.\\d{1,18})?(e[+-]\\d{1,2})?")) {
            double value = Double.parseDouble(text);
            estimates.put(COLUMNS.get(column), column.equals("inference_time") ? MILLI * value : value);
        }
    }
}
