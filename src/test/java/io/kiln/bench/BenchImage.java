// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ObjectCompiler;
import io.kiln.base.Bytes;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.ResourceTree;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.base.elf.ElfFile.Symbol;
import io.kiln.bench.BenchData.Core;
import io.kiln.compile.CompileOptions.RamOptions;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.firmware.FirmwareRequest.BroughtSources;
import io.kiln.partition.cmsisnn.CmsisNnCodegen;
import io.kiln.process.Command;
import io.kiln.process.KeptPrograms;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.target.SpareRam;
import io.kiln.target.Target;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Memory;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.SourceKind;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchain;
import io.kiln.toolchain.compiler.Toolchain.ClangObjects;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.compiler.Toolchains;
import io.kiln.tuning.record.HistoryBest;
import io.kiln.tuning.record.RecordFiles.ShippedRecords;
import io.kiln.tuning.record.TuningRecord;
import io.kiln.tuning.task.Objective.Metric;
import io.kiln.tuning.task.TaskKeys;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the archive holds of a model, compiled as a build compiles it and linked with the bench program and nothing else but {@code mem*}
 * and what the compiler's own library has for integers.
 *
 * @param folder where its files lie
 * @param elf the image
 * @param board what runs it
 * @param metadata of the model
 * @param cpu the core or instruction set that the code is for
 * @param library functions of the image that neither the archive nor the bench program has
 */
record BenchImage(Path folder, Path elf, Board board, ModelMetadata metadata, String cpu, Set<String> library) {
    private static final Pattern ALLOWED = Pattern.compile(
            "mem(cpy|move|set|cmp)|kiln_copy_words|"
                    // Arm's run-time ABI and GCC's and Clang's names: copying, and 64-bit or missing integer
                    // arithmetic.
                    + "__aeabi_(mem|l|i|u).*|__gnu_thumb1_case.*|divide(32|64)|__(u?(div|mod|divmod)|mul|ashl|ashr|lshr|clz|ctz)[sd]i[34]?2?");

    /** Builds an image. */
    static BenchImage build(Path folder, Path model, String name, Core core, Setting setting, int cases) {
        return build(folder, model, name, core, setting, cases, SpareRam.NONE);
    }

    /** Builds an image with copies in RAM as for a board that has some to spare. */
    static BenchImage build(
            Path folder, Path model, String name, Core core, Setting setting, int cases, SpareRam spare) {
        String target = target(core);
        ModelLibrary library = ModelCompiler.compile(RequestDraft.of(model, target)
                        .name(name)
                        .io(setting.io())
                        .optimize(setting.optimize())
                        .ram(spare, RamOptions.AUTO)
                        .objects(objects(target, setting))
                        .records(shipped(target, setting))
                        .build())
                .library();
        return build(folder, library.metadata(), library.artifacts(), core, setting, cases);
    }

    /** The target of a core. */
    static String target(Core core) {
        return core.target().isEmpty() ? Boards.builtIn().find(core.board()).target() : core.target();
    }

    /** Builds an image of a compiled model. */
    static BenchImage build(
            Path folder, ModelMetadata metadata, ArtifactSet artifacts, Core core, Setting setting, int cases) {
        return build(folder, metadata, artifacts, BroughtSources.NONE, core, setting, cases);
    }

    /** Builds an image of a compiled model with a library that it calls. */
    static BenchImage build(
            Path folder,
            ModelMetadata metadata,
            ArtifactSet artifacts,
            BroughtSources library,
            Core core,
            Setting setting,
            int cases) {
        Board board = Boards.builtIn().find(core.board());
        String target = target(core);
        Toolchain toolchain = Toolchains.resolve(setting.toolchain(), TargetOptions.parse(target), environment());
        Compiler compiler = new Compiler(folder, toolchain, setting.optimize());
        compiler.shims();
        List<String> objects = objects(folder, compiler, artifacts, library);
        WholeFiles.write(folder.resolve("bench_model.h"), BenchProgram.header(metadata, cases));
        WholeFiles.write(folder.resolve("bench_pool.c"), BenchProgram.pool(metadata));
        copy("bench.c", folder);
        copy("bench.ld", folder);
        for (String own : List.of("bench.c", "bench_pool.c")) {
            objects.add(compiler.compile(own, SourceKind.FREESTANDING));
        }
        Set<String> known = functions(folder, objects);
        objects.addAll(compiler.compileShims());
        Path elf = compiler.link(objects, memories(board));
        return new BenchImage(
                folder, elf, board, metadata, TargetOptions.parse(target).cpu(), others(elf, known));
    }

    private static List<String> objects(Path folder, Compiler compiler, ArtifactSet artifacts, BroughtSources library) {
        List<String> objects = new ArrayList<>();
        library.files()
                .forEach((name, content) -> WholeFiles.write(
                        folder.resolve(name.replaceFirst("^Include/", "include/")), content.toArray()));
        for (String name : library.files().keySet()) {
            if (name.endsWith(".c")) {
                objects.add(compiler.compile(name, SourceKind.USER));
            }
        }
        for (Artifact artifact : artifacts.artifacts()) {
            if (artifact.kind().isNative()) {
                WholeFiles.write(
                        folder.resolve(artifact.fileName()), artifact.content().toArray());
            }
            if (artifact.kind() == ArtifactKind.OBJECT) {
                objects.add(artifact.fileName());
            }
        }
        for (Artifact source : artifacts.of(ArtifactKind.SOURCE)) {
            boolean isAdapter = source.codegenId().equals(CmsisNnCodegen.NAME);
            objects.add(compiler.compile(source.fileName(), isAdapter ? SourceKind.USER : SourceKind.OWN));
        }
        return objects;
    }

    private static Set<String> others(Path elf, Set<String> known) {
        Set<String> others = new TreeSet<>();
        for (Symbol symbol : ElfFile.read(elf).symbols()) {
            if (symbol.isFunction() && !known.contains(symbol.name())) {
                others.add(symbol.name());
            }
        }
        return others;
    }

    static HistoryBest shipped(String target, Setting setting) {
        String core = TaskKeys.core(Target.parse(target));
        List<TuningRecord> followed = new ArrayList<>();
        setting.records().ifPresent(objective -> followed.addAll(ShippedRecords.of(core, objective.text())));
        if (setting.records().equals(Optional.of(Metric.CYCLES))) {
            followed.addAll(ShippedRecords.ofBoardCycles(core, target));
        }
        return new HistoryBest(followed);
    }

    private static Optional<ObjectCompiler> objects(String target, Setting setting) {
        return target.startsWith("llvm ")
                ? Optional.of(ClangObjects.of(target, setting.optimize(), List.of(), environment()))
                : Optional.empty();
    }

    /** Whether an input or result is float32: floating point is then expected. */
    boolean isFloat() {
        return Stream.concat(metadata.inputs().stream(), metadata.outputs().stream())
                .anyMatch(tensor -> tensor.dtype().isFloat());
    }

    /** Functions linked that an integer model must not need. */
    Set<String> forbidden() {
        return library.stream()
                .filter(name -> !ALLOWED.matcher(name).matches())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Size in bytes of an output section; 0 if it is not there. */
    long section(String name) {
        return ElfFile.read(elf).sections().stream()
                .filter(section -> section.name().equals(name))
                .mapToLong(ElfFile.Section::size)
                .sum();
    }

    /** The same as of all tests, so that the bundled compiler is unpacked once. */
    static ToolchainEnvironment environment() {
        return TestToolchains.environment(Log.QUIET);
    }

    static String memories(Board board) {
        Memory code = board.memories().get(0);
        return "MEMORY\n{\n" + memory("CODE", code)
                + board.constants()
                        .filter(m -> !m.equals(code))
                        .map(m -> memory("CONSTANTS", m))
                        .orElse("")
                + board.workspace().map(m -> memory("DATA", m)).orElse("") + "}\n"
                + (board.constants().orElse(code).equals(code) ? "REGION_ALIAS(\"CONSTANTS\", CODE)\n" : "");
    }

    private static String memory(String name, Memory memory) {
        return String.format(Locale.ROOT, "  %s : ORIGIN = 0x%x, LENGTH = %d%n", name, memory.base(), memory.size());
    }

    private static Set<String> functions(Path folder, List<String> objects) {
        Set<String> names = new TreeSet<>();
        for (String object : objects) {
            ElfFile.read(folder.resolve(object)).symbols().stream()
                    .filter(Symbol::isFunction)
                    .forEach(symbol -> names.add(symbol.name()));
        }
        return names;
    }

    static void copy(String resource, Path folder) {
        try (InputStream in = BenchImage.class.getResourceAsStream(resource)) {
            WholeFiles.write(folder.resolve(resource), in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * How a model is built.
     *
     * @param records what the records that come with Kiln minimise that choose before the rules do; empty for none
     */
    record Setting(String toolchain, Optimize optimize, ModelMetadata.Io io, Optional<Metric> records) {
        /** As every build does it. */
        Setting(String toolchain, Optimize optimize, ModelMetadata.Io io) {
            this(toolchain, optimize, io, Optional.of(Metric.CYCLES));
        }
    }

    /** Runs one toolchain in one folder. */
    record Compiler(Path folder, Toolchain toolchain, Optimize optimize) {
        String compile(String source, SourceKind kind) {
            String object = source.replaceAll("\\.[cSs]$", ".o");
            List<String> line = new ArrayList<>(List.of(toolchain.compiler()));
            line.addAll(toolchain.compileFlags(kind, optimize));
            // Nobody debugs these images; lines and variables take up to a quarter of the compiler's time.
            line.addAll(List.of("-g0", "-I.", "-Iinclude", "-Ishims/include", "-c", source, "-o", object));
            run(object, line);
            return object;
        }

        /** Writes the headers and sources that stand in for a C library, if the toolchain has none; returns the sources' names. */
        List<String> shims() {
            Map<String, Bytes> files = toolchain.shims() ? ResourceTree.read("shims") : Map.of();
            files.forEach(
                    (file, content) -> WholeFiles.write(folder.resolve("shims").resolve(file), content.toArray()));
            return files.keySet().stream().filter(file -> file.endsWith(".c")).toList();
        }

        /** Compiles them in their own folder: nothing else counts there, so that all images of a core share their objects. */
        List<String> compileShims() {
            Compiler own = new Compiler(folder.resolve("shims"), toolchain, optimize);
            return shims().stream()
                    .map(file -> "shims/" + own.compile(file, SourceKind.FREESTANDING))
                    .toList();
        }

        Path link(List<String> objects, String memories) {
            try {
                Path script = folder.resolve("bench.ld");
                Files.writeString(script, memories + Files.readString(script));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            List<String> line = new ArrayList<>(List.of(toolchain.compiler()));
            line.addAll(toolchain.link());
            line.addAll(List.of("-T", "bench.ld", "-Wl,-Map=bench.map", "-o", "bench.elf"));
            line.addAll(objects);
            line.addAll(toolchain.libraries());
            run("bench.elf", line);
            return folder.resolve("bench.elf");
        }

        private void run(String output, List<String> line) {
            ProcessResult result = KeptPrograms.make(folder, output, Command.ofLine(line));
            if (!result.succeeded()) {
                throw new IllegalStateException(String.join(" ", line) + "\n" + result.message());
            }
        }
    }
}
