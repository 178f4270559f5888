// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.GitLfs;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import io.kiln.base.WholeFiles.TemporaryFolder;
import io.kiln.base.elf.ElfFile;
import io.kiln.compile.CallOptions;
import io.kiln.compile.CodeTarget;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.Frontends;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.ReadOptions;
import io.kiln.firmware.image.Measurement.ImageMeasurer;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.FirmwareSteps.MemoryReports;
import io.kiln.flow.inspect.Doctor.Tool;
import io.kiln.flow.inspect.InspectedText.Inspected;
import io.kiln.flow.inspect.InspectedText.Inspected.OfArchive;
import io.kiln.flow.inspect.InspectedText.Inspected.OfImage;
import io.kiln.flow.inspect.InspectedText.Inspected.OfLibrary;
import io.kiln.flow.inspect.InspectedText.Inspected.OfModel;
import io.kiln.flow.inspect.InspectedText.Inspected.OfText;
import io.kiln.flow.inspect.InspectedText.NpuParts;
import io.kiln.flow.page.BuildPage.ModelGraph;
import io.kiln.flow.resolve.ModelFiles;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.ir.Function;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.module.ModuleLoaders;
import io.kiln.module.ModuleTree.ModuleNode;
import io.kiln.module.SharedLibrary;
import io.kiln.module.inspect.ArtifactInspector;
import io.kiln.module.inspect.ArtifactInspectors;
import io.kiln.pages.graph.JtepageGenerated;
import io.kiln.partition.ethosu.EthosUCodegen;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.report.BuildReport.ReportedTensor;
import io.kiln.report.ProfileReport;
import io.kiln.report.graph.Graph;
import io.kiln.report.graph.Graph.Note;
import io.kiln.report.listing.InspectReport;
import io.kiln.report.listing.InspectReport.Archive;
import io.kiln.report.listing.InspectReport.ArchivedModel;
import io.kiln.report.listing.InspectReport.Image;
import io.kiln.report.listing.InspectReport.Library;
import io.kiln.report.listing.InspectReport.LibraryModule;
import io.kiln.report.listing.InspectReport.Model;
import io.kiln.report.listing.InspectReport.NpuPart;
import io.kiln.report.listing.InspectReport.Operator;
import io.kiln.report.listing.InspectReport.Part;
import io.kiln.report.listing.InspectReport.Shown;
import io.kiln.report.listing.InspectReport.Text;
import io.kiln.report.page.Page;
import io.kiln.target.Target;
import io.kiln.target.TargetKind;
import io.kiln.toolchain.board.Board;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/**
 * Shows models, archives and images to people and programs: operators, shapes, sizes and memory use.
 *
 * @param inputs shapes and values of the inputs of a model that is not one of the build's
 */
public record Inspector(BuildSpec spec, GivenInputs inputs) {
    private static final int TFLITE_MAGIC = 4;
    private static final int HEAD = 512;
    /** Loaders by suffix; other files are payloads. */
    private static final Map<String, String> LOADERS = Map.of(
            "c", "native", "h", "native", "o", "native", "a", "native", "params", "params", "relay", "relay", "graph",
            "graph");

    private static final int MAGIC = 8;

    private static final String TFLITE = ".tflite";

    /** Describes a file for people; without one, the build's models and, if it was linked, its image. */
    public List<String> lines(Optional<Path> file) {
        return files(file).stream()
                .flatMap(each -> InspectedText.lines(each).stream())
                .toList();
    }

    /** Describes a file for programs; without one, the build's models and, if it was linked, its image. */
    public InspectReport report(Optional<Path> file) {
        return new InspectReport(files(file).stream().map(InspectedReport::of).toList());
    }

    private List<Inspected> files(Optional<Path> file) {
        if (file.isPresent()) {
            return List.of(ofFile(file.get()));
        }
        if (spec.models().isEmpty()) {
            throw Failure.CONFIG.exception(
                    "there is nothing to show",
                    "",
                    "a model, an archive or an image",
                    "Name one with -Dkiln.file=<file>");
        }
        List<Inspected> files = new ArrayList<>();
        spec.models().forEach(model -> files.add(model(model)));
        Path elf = spec.layout().image("elf");
        if (Files.isRegularFile(elf)) {
            files.add(image(elf, ElfFile.read(elf)));
        }
        return files;
    }

    /**
     * An artifact inspector's description of a file.
     *
     * @param name the inspector's name, or {@code ?} for a list of the inspectors that know the file
     */
    public static List<String> lines(Path file, String name) {
        head(file);
        return installed().lines(artifacts(file), name);
    }

    /** An artifact inspector's description of a file, for programs. */
    public static InspectReport report(Path file, String name) {
        return new InspectReport(List.of(InspectedReport.of(new Inspected.OfText(file, lines(file, name)))));
    }

    private static ArtifactInspectors installed() {
        return ArtifactInspectors.installed(List.of(new DisassemblyInspector()));
    }

    private Inspected ofFile(Path file) {
        byte[] head = head(file);
        GitLfs.pointer(file).ifPresent(problem -> {
            throw new KilnException(problem);
        });
        if (head.length > 3 && head[0] == 0x7F && text(head, 1, 3).equals("ELF")) {
            ElfFile elf = ElfFile.read(file);
            return SharedLibrary.isLibrary(elf)
                    ? new Inspected.OfLibrary(file, elf, spec.layout().reports().resolve("modules"))
                    : image(file, elf);
        }
        if (text(head, TFLITE_MAGIC, 4).equals("TFL3") || RelayFrontend.accepts(file)) {
            return model(new ModelSource(file, "default", inputs, "", Optional.empty(), Optional.empty()));
        }
        if (ModelArchives.accepts(file)) {
            return new Inspected.OfArchive(file);
        }
        Optional<List<String>> listed = listed(file);
        if (listed.isPresent()) {
            return new Inspected.OfText(file, listed.get());
        }
        List<Artifact> artifacts = artifacts(file);
        ArtifactInspectors inspectors = installed();
        Optional<String> usual = artifacts.stream()
                .flatMap(artifact -> inspectors.names(artifact).stream())
                .findFirst();
        if (usual.isPresent()) {
            return new Inspected.OfText(file, inspectors.lines(artifacts, usual.get()));
        }
        throw Failure.ARCHIVE.exception(
                "is not a file that can be shown",
                file.toString(),
                "a .tflite, .onnx or .relay model, a Model Library Format .tar, an .elf image, a shared library or"
                        + " exported artifacts",
                "Correct kiln.file");
    }

    private Inspected model(ModelSource source) {
        Problem missing = Failure.ARCHIVE.problem(
                "does not exist", source.file().toString(), ModelFiles.EXPECTED, "Correct kiln.model");
        if (!Files.isRegularFile(source.file())) {
            throw new KilnException(missing);
        }
        if (ModelArchives.accepts(source.file())) {
            return new Inspected.OfArchive(source.file());
        }
        if (!spec.malformed().isEmpty()) {
            throw new KilnException(spec.malformed());
        }
        ReadOptions reading = spec.options().reading();
        Function function = Frontends.read(source.file(), source.name(), source.shapes(), reading);
        List<NpuPart> npuParts = NpuParts.of(function);
        String target = npuParts.isEmpty() ? target() : EthosUCodegen.NAME + ", " + target();
        CompiledModel compiled = ModelCompiler.compile(
                new CompileRequest(
                        source.input(),
                        CodeTarget.of(target),
                        spec.options().with(CallOptions.TYPED),
                        Optional.empty()),
                function);
        Path drawing = spec.layout().reports().resolve("graph-" + source.name() + ".html");
        String file = String.valueOf(source.file().getFileName());
        Graph graph = ModelGraph.of(compiled, file).with(measured());
        WholeFiles.write(drawing, Page.of((out, html) -> JtepageGenerated.render(out, html, graph)));
        return new Inspected.OfModel(
                source.file(), compiled.library().metadata(), compiled.code().staticBytes(), drawing, npuParts);
    }

    /** What the last {@code kiln:profile} of the image measured, by C function; empty without one that can be read. */
    private Map<String, Note> measured() {
        return FirmwareSteps.readable(spec.layout().reports().resolve(FirmwareSteps.PROFILE))
                .map(profile -> profile.operators().stream()
                        .collect(Collectors.toMap(
                                ProfileReport.Operator::name,
                                operator -> new Note(operator.text(), operator.name() + ": " + operator.text()),
                                (one, other) -> one)))
                .orElse(Map.of());
    }

    /** The target as one of C, so that nothing is compiled here: operators and memory are the same whether models become C or objects. */
    private String target() {
        Target target = Target.parse(board().target());
        return new Target(TargetKind.C, target.keys(), target.attributes()).text();
    }

    private Inspected image(Path file, ElfFile elf) {
        return new Inspected.OfImage(file, spec.board(), ImageMeasurer.measure(elf, board()));
    }

    private Board board() {
        return spec.boards().find(spec.board());
    }

    private static byte[] head(Path file) {
        if (!Files.isRegularFile(file)) {
            throw Failure.ARCHIVE.exception("does not exist", file.toString(), "a file", "Correct kiln.file");
        }
        try (InputStream in = Files.newInputStream(file)) {
            return in.readNBytes(HEAD);
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    private static String text(byte[] head, int from, int length) {
        return head.length < from + length ? "" : new String(head, from, length, StandardCharsets.ISO_8859_1);
    }

    /** The artifacts of a file: those of an archive, a library, an exported set or artifact; any other file is one itself. */
    static List<Artifact> artifacts(Path file) {
        String name = String.valueOf(file.getFileName());
        if (ModelArchives.accepts(file)) {
            List<Artifact> artifacts = new ArrayList<>();
            metadata(file, name).ifPresent(artifacts::add);
            ModelLibraryFormat.read(file)
                    .forEach(model -> artifacts.addAll(model.artifacts().artifacts()));
            return artifacts.stream().distinct().toList();
        }
        if (name.endsWith(TFLITE) && isVelas(WholeFiles.read(file))) {
            return NpuParts.streams(Frontends.read(file, "default", InputShapes.NONE, ReadOptions.DEFAULT));
        }
        if (ElfFile.isElf(file)) {
            ElfFile elf = ElfFile.read(file);
            return SharedLibrary.isLibrary(elf)
                    ? library(file, elf, name)
                    : List.of(single(name, "o", WholeFiles.read(file)));
        }
        return exported(file)
                .map(ArtifactSet::artifacts)
                .orElseGet(
                        () -> List.of(single(name, name.substring(name.lastIndexOf('.') + 1), WholeFiles.read(file))));
    }

    /** Whether a model names the operator of Vela's files. */
    private static boolean isVelas(Bytes content) {
        return new String(content.toArray(), StandardCharsets.ISO_8859_1).contains(EthosUCodegen.NAME);
    }

    /** The artifacts of an exported set or artifact; empty for other files. */
    private static Optional<ArtifactSet> exported(Path file) {
        Bytes content = WholeFiles.read(file);
        String name = String.valueOf(file.getFileName());
        return switch (magic(content)) {
            case "KILNART1" -> Optional.of(alone(Artifact.load(content, name)));
            case "KILNSET1" -> Optional.of(ArtifactSet.load(content, name));
            default -> Optional.empty();
        };
    }

    /** An artifact as a set of its own; it does not say what its target is. */
    private static ArtifactSet alone(Artifact artifact) {
        return new ArtifactSet(List.of(artifact), new TreeMap<>(Map.of(artifact.targetKey(), "")));
    }

    /** What an exported set or artifact holds: targets, and each file with its loader and its code generator; empty for other files. */
    static Optional<List<String>> listed(Path file) {
        return exported(file).map(set -> {
            List<String> lines = new ArrayList<>();
            lines.add("Artifacts of " + file + ": " + set.artifacts().size());
            set.targets().entrySet().stream()
                    .filter(target -> !target.getValue().isEmpty())
                    .forEach(target -> lines.add("  target " + target.getKey() + ": " + target.getValue()));
            set.artifacts()
                    .forEach(artifact -> lines.add("  " + artifact.targetKey() + "/" + artifact.loader() + "/"
                            + artifact.fileName() + ": " + artifact.content().size() + " bytes of code generator "
                            + artifact.codegenId()));
            return lines;
        });
    }

    /** The metadata of an archive's models. */
    private static Optional<Artifact> metadata(Path archive, String name) {
        SortedMap<String, Bytes> files = ModelLibraryFormat.files(archive);
        return Optional.ofNullable(files.get(ArchivePaths.METADATA))
                .map(content -> new Artifact(named(name), "metadata", ArchivePaths.METADATA, content, Artifact.HOST));
    }

    /** The library as a file, and the artifacts that it carries, or the files of its modules. */
    private static List<Artifact> library(Path file, ElfFile elf, String name) {
        SharedLibrary library = SharedLibrary.read(elf, name, ModuleLoaders.installed());
        List<Artifact> artifacts = new ArrayList<>(List.of(single(name, "so", WholeFiles.read(file))));
        artifacts.addAll(library.artifacts().artifacts());
        List<ModuleNode> modules = library.tree().modules();
        for (int i = 0; i < modules.size(); i++) {
            String prefix = i + "-" + named(modules.get(i).typeKey()) + "-";
            modules.get(i).payload().files().forEach((part, content) -> {
                String suffix = part.substring(part.lastIndexOf('.') + 1);
                artifacts.add(single(prefix + part, suffix, content));
            });
        }
        return artifacts;
    }

    private static Artifact single(String name, String suffix, Bytes content) {
        String loader = LOADERS.getOrDefault(suffix, "file");
        String file = named(name);
        return new Artifact(
                "file",
                loader,
                file.endsWith("." + suffix) ? file : file + "." + named(suffix),
                content,
                Artifact.HOST);
    }

    private static String named(String text) {
        String name = text.replaceAll("[^A-Za-z0-9_.+-]", "_");
        return name.matches("\\.*") ? "file" : name.substring(0, Math.min(150, name.length()));
    }

    private static String magic(Bytes content) {
        byte[] head = new byte[Math.min(MAGIC, content.size())];
        for (int i = 0; i < head.length; i++) {
            head[i] = content.get(i);
        }
        return new String(head, StandardCharsets.ISO_8859_1);
    }

    /**
     * The instructions of objects, images and shared libraries, with relocations, as GNU objdump prints them. The bundled compiler has no
     * disassembler, so the program of the core's GNU binutils must be installed.
     */
    static final class DisassemblyInspector implements ArtifactInspector {
        private static final String PURPOSE = "to disassemble";

        /** Disassemblers by machine, as ELF numbers them; other machines are those that the system's own objdump knows. */
        private static final Map<Integer, Tool> TOOLS = Map.of(
                40, new Tool("arm-none-eabi-objdump", List.of("binutils-arm-none-eabi"), PURPOSE),
                243, new Tool("riscv64-unknown-elf-objdump", List.of("binutils-riscv64-unknown-elf"), PURPOSE));

        private static final Tool SYSTEM = new Tool("objdump", List.of("binutils"), PURPOSE);
        private static final Duration PATIENCE = Duration.ofMinutes(1);

        private final IntFunction<Tool> tools;

        DisassemblyInspector() {
            this(DisassemblyInspector::tool);
        }

        /** An inspector with other tools by machine. */
        DisassemblyInspector(IntFunction<Tool> tools) {
            this.tools = tools;
        }

        @Override
        public String name() {
            return "disassembly";
        }

        @Override
        public Scope scope() {
            return Scope.ARTIFACT;
        }

        @Override
        public boolean accepts(Artifact artifact) {
            return artifact.kind() == ArtifactKind.OBJECT || artifact.fileName().endsWith(".so");
        }

        @Override
        public List<String> inspect(List<Artifact> artifacts) {
            List<String> lines = new ArrayList<>();
            artifacts.forEach(artifact -> lines.addAll(disassembled(artifact)));
            return lines;
        }

        static Tool tool(int machine) {
            return TOOLS.getOrDefault(machine, SYSTEM);
        }

        private List<String> disassembled(Artifact artifact) {
            Tool tool = tools.apply(
                    ElfFile.read(artifact.content(), artifact.fileName()).machine());
            String program =
                    tool.path().orElseThrow(() -> missing(tool, artifact)).toString();
            return TemporaryFolder.use("kiln-disassembly", folder -> disassembled(artifact, program, folder));
        }

        /** The lines of the disassembler, read from a file: the output for an image is larger than what a process's result holds. */
        private static List<String> disassembled(Artifact artifact, String program, Path folder) {
            WholeFiles.write(folder.resolve("code.o"), artifact.content());
            Path text = folder.resolve("code.txt");
            ProcessResult result = ProcessRunner.run(Command.of(program, "--disassemble", "--reloc", "--wide", "code.o")
                    .in(folder)
                    .within(PATIENCE)
                    .owning(folder)
                    .loggingTo(text));
            if (!result.succeeded()) {
                throw Failure.TOOL.exception(
                        "cannot be disassembled: " + result.message().strip(),
                        artifact.fileName(),
                        "an object with code");
            }
            return WholeFiles.text(text, StandardCharsets.ISO_8859_1)
                    .lines()
                    .map(line -> line.replace('\t', ' ').stripTrailing())
                    .filter(line -> !line.isEmpty() && !line.startsWith("code.o:"))
                    .toList();
        }

        private static KilnException missing(Tool tool, Artifact artifact) {
            String packages = String.join(" ", tool.packages());
            return Failure.TOOL.exception(
                    "cannot be disassembled: " + tool.program() + " is not installed",
                    artifact.fileName(),
                    tool.program() + " on the PATH",
                    "Install GNU binutils, for example by apt-get install " + packages);
        }
    }

    /** The contents of an inspected file, for programs. */
    private static final class InspectedReport {
        private InspectedReport() {}

        static Shown of(Inspected file) {
            if (file instanceof OfModel model) {
                return model(model);
            }
            if (file instanceof OfArchive archive) {
                return archive(archive);
            }
            if (file instanceof OfImage image) {
                return new Image(
                        "image",
                        path(image),
                        image.board(),
                        MemoryReports.flash(image.measured()),
                        MemoryReports.ram(image.measured()),
                        MemoryReports.memories(image.measured()));
            }
            if (file instanceof OfLibrary library) {
                return library(library);
            }
            return new Text("text", path(file), ((OfText) file).lines());
        }

        private static String path(Inspected file) {
            return file.file().toString();
        }

        private static Model model(OfModel file) {
            ModelMetadata model = file.model();
            return new Model(
                    "model",
                    path(file),
                    model.target(),
                    tensors(model.inputs()),
                    tensors(model.outputs()),
                    model.operators().stream()
                            .map(operator -> new Operator(
                                    operator.op(),
                                    tensors(operator.outputs()),
                                    operator.macs(),
                                    operator.constantBytes(),
                                    operator.workspaceBytes()))
                            .toList(),
                    model.operators().stream().mapToLong(OperatorInfo::macs).sum(),
                    model.constantBytes(),
                    model.workspaceBytes(),
                    model.plan().lowerBound(),
                    file.stateBytes(),
                    file.npuParts());
        }

        private static Archive archive(OfArchive file) {
            String name = String.valueOf(file.file().getFileName());
            SortedMap<String, Bytes> content = ModelLibraryFormat.files(file.file());
            JsonNode root = ModelLibraryFormat.metadata(name, content);
            List<ArchivedModel> models = List.of();
            List<String> problems = List.of();
            try {
                models = ModelLibraryFormat.read(name, content).stream()
                        .map(ModelLibrary::metadata)
                        .map(model -> new ArchivedModel(
                                model.name(),
                                model.target(),
                                tensors(model.inputs()),
                                tensors(model.outputs()),
                                model.constantBytes(),
                                model.workspaceBytes()))
                        .toList();
            } catch (KilnException e) {
                problems = e.problems().stream().map(Problem::text).toList();
            }
            return new Archive(
                    "archive",
                    path(file),
                    root.path("version").asText("unknown"),
                    models,
                    content.entrySet().stream()
                            .map(part -> new Part(part.getKey(), part.getValue().size()))
                            .toList(),
                    problems);
        }

        private static Library library(OfLibrary file) {
            SharedLibrary library = SharedLibrary.read(
                    file.elf(), String.valueOf(file.file().getFileName()), ModuleLoaders.installed());
            return new Library(
                    "library",
                    path(file),
                    library.tree().modules().stream()
                            .map(module -> new LibraryModule(
                                    module.typeKey(), module.payload().functions(), module.imports()))
                            .toList(),
                    library.artifacts().artifacts().stream()
                            .map(artifact -> new Part(
                                    artifact.fileName(), artifact.content().size()))
                            .toList());
        }

        private static List<ReportedTensor> tensors(List<TensorInfo> tensors) {
            return tensors.stream().map(ReportedTensor::of).toList();
        }
    }
}
