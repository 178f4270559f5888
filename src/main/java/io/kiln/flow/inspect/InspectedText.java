// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.Convention;
import io.kiln.artifact.LinkPlan;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.firmware.image.Measurement;
import io.kiln.firmware.image.Measurement.MemoryTable;
import io.kiln.flow.inspect.InspectedText.Inspected.OfArchive;
import io.kiln.flow.inspect.InspectedText.Inspected.OfImage;
import io.kiln.flow.inspect.InspectedText.Inspected.OfLibrary;
import io.kiln.flow.inspect.InspectedText.Inspected.OfModel;
import io.kiln.flow.inspect.InspectedText.Inspected.OfText;
import io.kiln.flow.verify.TensorText;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.op.call.EthosU;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.module.ArtifactLoaders;
import io.kiln.module.ModuleLoaders;
import io.kiln.module.ModuleTree.ModuleNode;
import io.kiln.module.ModuleWriter;
import io.kiln.module.SharedLibrary;
import io.kiln.npu.DriverPayload;
import io.kiln.npu.NpuOperation;
import io.kiln.npu.NpuOperations;
import io.kiln.partition.ethosu.EthosUCodegen;
import io.kiln.report.Table;
import io.kiln.report.listing.InspectReport.NpuPart;
import io.kiln.report.listing.InspectReport.NpuRegion;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The contents of an inspected file, in lines for people. */
final class InspectedText {
    private static final Set<ArtifactKind> SHARED = Set.of(ArtifactKind.RUNTIME, ArtifactKind.TEMPLATE);

    private InspectedText() {}

    static List<String> lines(Inspected file) {
        if (file instanceof OfModel model) {
            return model(model);
        }
        if (file instanceof OfArchive archive) {
            return archive(archive.file());
        }
        if (file instanceof OfImage image) {
            return image(image);
        }
        if (file instanceof OfLibrary library) {
            return LibraryText.lines(library.file(), library.elf(), library.folder());
        }
        return ((OfText) file).lines();
    }

    private static List<String> model(OfModel file) {
        ModelMetadata model = file.model();
        List<String> lines = new ArrayList<>();
        lines.add("Model " + file.file() + " for " + model.target());
        model.inputs().forEach(tensor -> lines.add("  input  " + tensor(tensor)));
        model.outputs().forEach(tensor -> lines.add("  output " + tensor(tensor)));
        Table table = new Table("operator", "output", "MACs", "constants", "scratch");
        for (OperatorInfo operator : model.operators()) {
            table.row(
                    operator.op(),
                    shape(operator.outputs()),
                    operator.macs(),
                    operator.constantBytes(),
                    operator.workspaceBytes());
        }
        table.row(
                "total",
                "",
                model.operators().stream().mapToLong(OperatorInfo::macs).sum(),
                model.constantBytes(),
                "");
        lines.addAll(table.lines());
        lines.add("workspace " + model.workspaceBytes() + " bytes by "
                + model.plan().algorithm() + ", lower bound " + model.plan().lowerBound());
        if (file.stateBytes() > 0) {
            lines.add("state " + file.stateBytes() + " bytes, kept between runs");
        }
        lines.addAll(NpuParts.lines(file.npuParts()));
        lines.add("graph: " + file.drawing());
        return lines;
    }

    private static List<String> image(OfImage image) {
        List<String> lines = new ArrayList<>();
        lines.add("Image " + image.file() + " on the board " + image.board());
        MemoryTable.table(image.measured()).lines().forEach(lines::add);
        return lines;
    }

    private static String tensor(TensorInfo tensor) {
        String quantization =
                tensor.scale() == 0 ? "" : ", scale " + tensor.scale() + ", zero point " + tensor.zeroPoint();
        return TensorText.type(tensor) + quantization;
    }

    private static String shape(List<TensorInfo> tensors) {
        return String.join(
                " ",
                tensors.stream()
                        .map(t -> t.dtype().text() + t.shape().toString().replace(" ", ""))
                        .toList());
    }

    /** Shows a shared library with modules, and writes what the modules hold as files. Nothing of the library is run. */
    private static final class LibraryText {
        private static final int MOST_NAMES = 40;
        private static final int MOST_INDENT = 20;

        private final SharedLibrary library;
        private final List<String> lines = new ArrayList<>();
        private final Set<Integer> shown = new HashSet<>();

        /** A module that is still to be shown. */
        private record Place(int index, int depth) {}

        private LibraryText(SharedLibrary library) {
            this.library = library;
        }

        /**
         * Describes a library.
         *
         * @param folder where the files of modules are written, below a folder of the library's name
         */
        static List<String> lines(Path file, ElfFile elf, Path folder) {
            LibraryText text = new LibraryText(
                    SharedLibrary.read(elf, String.valueOf(file.getFileName()), ModuleLoaders.installed()));
            text.describe(file);
            text.extract(folder.resolve(String.valueOf(file.getFileName())));
            return List.copyOf(text.lines);
        }

        private void describe(Path file) {
            int count = library.tree().modules().size();
            lines.add("Library " + file + ": " + count + (count == 1 ? " module" : " modules")
                    + (library.blobBytes() == 0 ? "" : ", " + library.blobBytes() + " bytes of __tvm_dev_mblob"));
            show();
            if (library.artifacts().artifacts().isEmpty()) {
                lines.add("  no artifacts (kiln.export.artifacts adds them)");
            }
            library.artifacts()
                    .artifacts()
                    .forEach(artifact -> lines.add("  artifact " + artifact.fileName() + " of code generator "
                            + artifact.codegenId() + " for loader " + artifact.loader() + ", target "
                            + artifact.targetKey() + ": " + artifact.content().size() + " bytes"));
        }

        /** Shows modules in the order of imports; one that several others import comes once. */
        private void show() {
            Deque<Place> todo = new ArrayDeque<>(List.of(new Place(0, 1)));
            while (!todo.isEmpty()) {
                Place place = todo.pop();
                ModuleNode module = library.tree().modules().get(place.index());
                String indent = "  ".repeat(Math.min(MOST_INDENT, place.depth()));
                if (!shown.add(place.index())) {
                    lines.add(indent + place.index() + " " + module.typeKey() + ", as above");
                    continue;
                }
                show(place.index(), module, indent);
                List<Integer> imports = module.imports();
                for (int i = imports.size() - 1; i >= 0; i--) {
                    todo.push(new Place(imports.get(i), place.depth() + 1));
                }
            }
        }

        private void show(int index, ModuleNode module, String indent) {
            ModuleWriter payload = new ModuleWriter();
            module.payload().write(payload);
            lines.add(indent + index + " " + module.typeKey()
                    + (module.payload().isLinked() ? "" : ", " + payload.bytes().size() + " bytes"));
            List<String> functions = module.payload().functions();
            if (!functions.isEmpty()) {
                lines.add(indent + "  functions: "
                        + String.join(", ", functions.subList(0, Math.min(MOST_NAMES, functions.size())))
                        + (functions.size() > MOST_NAMES ? " and " + (functions.size() - MOST_NAMES) + " more" : ""));
            }
            module.payload().details().forEach(detail -> lines.add(indent + "  " + detail));
        }

        private void extract(Path folder) {
            for (int i = 0; i < library.tree().modules().size(); i++) {
                ModuleNode module = library.tree().modules().get(i);
                String prefix = i + "-" + module.typeKey().replaceAll("[^A-Za-z0-9_]", "_") + "-";
                module.payload().files().forEach((name, content) -> {
                    Path file = folder.resolve(prefix + name);
                    WholeFiles.write(file, content.toArray());
                    lines.add(content.size() + " bytes: " + file);
                });
            }
        }
    }

    /**
     * Describes an archive. If firmware cannot be built from it, the reasons come last.
     *
     * @throws io.kiln.base.KilnException if the file is not an archive
     */
    private static List<String> archive(Path file) {
        String name = String.valueOf(file.getFileName());
        SortedMap<String, Bytes> content = ModelLibraryFormat.files(file);
        JsonNode root = ModelLibraryFormat.metadata(name, content);
        List<String> lines = new ArrayList<>();
        lines.add("Archive " + file + ", Model Library Format version "
                + root.path("version").asText("unknown"));
        if (root.has("modules")) {
            root.path("modules").forEach(module -> lines.addAll(module(module)));
        } else {
            lines.addAll(module(root));
        }
        lines.addAll(files(content));
        try {
            List<ModelLibrary> models = ModelLibraryFormat.read(name, content);
            models.forEach(model -> lines.addAll(tensors(model.metadata())));
            lines.addAll(plan(models));
            models.forEach(model -> lines.addAll(payloads(model.artifacts())));
        } catch (KilnException e) {
            lines.add("firmware cannot be built from it:");
            e.problems().forEach(problem -> lines.add("  " + problem.text()));
        }
        return lines;
    }

    /** What the firmware build does with the files; the runtime, which all models share, counts once. */
    private static List<String> plan(List<ModelLibrary> models) {
        Table table = new Table("loader", "target", "in firmware", "files", "bytes");
        List<ArtifactSet> sets = new ArrayList<>();
        for (ModelLibrary model : models) {
            boolean isFirst = sets.isEmpty();
            sets.add(model.artifacts()
                    .with(model.artifacts().artifacts().stream()
                            .filter(file -> isFirst || !SHARED.contains(file.kind()))
                            .toList()));
        }
        LinkPlan.of(sets)
                .groups()
                .forEach(group ->
                        table.row(group.loader(), group.targetKey(), group.action(), group.files(), group.bytes()));
        return table.lines();
    }

    /** The descriptions of payloads by their loaders, if any are installed. */
    private static List<String> payloads(ArtifactSet set) {
        try {
            return ArtifactLoaders.installed().load(set).stream()
                    .map(module -> "Payload of " + module.typeKey() + ": "
                            + (module.payload().functions().isEmpty()
                                    ? "no functions"
                                    : String.join(", ", module.payload().functions())))
                    .toList();
        } catch (KilnException e) {
            return e.problems().stream().map(Problem::text).toList();
        }
    }

    /** Inputs and outputs in the order of the test vectors. */
    private static List<String> tensors(ModelMetadata model) {
        List<String> lines = new ArrayList<>();
        Convention convention = model.api().convention();
        lines.add("Interface of " + model.name() + ": kiln.io=" + model.io().text()
                + (convention.hasPackedEntry()
                        ? ", kiln.interfaceApi=packed, kiln.unpackedApi=" + convention.unpackedApi()
                        : ""));
        model.inputs().forEach(tensor -> lines.add("  input  " + TensorText.type(tensor)));
        model.outputs().forEach(tensor -> lines.add("  output " + TensorText.type(tensor)));
        return lines;
    }

    private static List<String> module(JsonNode module) {
        List<String> lines = new ArrayList<>();
        lines.add("Model " + module.path("model_name").asText() + " for " + module.path("target"));
        for (JsonNode main : module.path("memory").path("functions").path("main")) {
            lines.add("  workspace " + main.path("workspace_size_bytes").asLong() + " bytes, constants "
                    + main.path("constants_size_bytes").asLong() + ", inputs and outputs "
                    + main.path("io_size_bytes").asLong());
        }
        Table table = new Table("operator function", "workspace");
        JsonNode functions = module.path("memory").path("functions").path("operator_functions");
        for (JsonNode function : functions) {
            table.row(
                    function.path("function_name").asText(),
                    function.path("workspace")
                            .path(0)
                            .path("workspace_size_bytes")
                            .asLong());
        }
        if (!functions.isEmpty()) {
            lines.addAll(table.lines());
        }
        return lines;
    }

    /** Files counted by folder, because a runtime has many. */
    private static List<String> files(SortedMap<String, Bytes> content) {
        Map<String, Long> bytes = new TreeMap<>();
        Map<String, Integer> counts = new TreeMap<>();
        content.forEach((name, file) -> {
            int slash = name.indexOf('/');
            String folder = slash < 0 ? name : name.substring(0, slash + 1);
            bytes.merge(folder, (long) file.size(), Long::sum);
            counts.merge(folder, 1, Integer::sum);
        });
        Table table = new Table("in the archive", "files", "bytes");
        bytes.forEach((folder, size) -> table.row(folder, counts.get(folder), size));
        return table.lines();
    }

    /** An inspected file, before it is formatted for people or for programs. */
    sealed interface Inspected {
        Path file();

        /**
         * A model.
         *
         * @param stateBytes variables that it keeps between runs
         * @param drawing the page of its graph
         */
        record OfModel(Path file, ModelMetadata model, long stateBytes, Path drawing, List<NpuPart> npuParts)
                implements Inspected {
            public OfModel {
                npuParts = List.copyOf(npuParts);
            }
        }

        record OfArchive(Path file) implements Inspected {}

        /** An image, measured for a board. */
        record OfImage(Path file, String board, Measurement measured) implements Inspected {}

        /**
         * A shared library with modules.
         *
         * @param folder where files of the modules are written for people
         */
        record OfLibrary(Path file, ElfFile elf, Path folder) implements Inspected {}

        /** Another file, with an artifact inspector's description of it. */
        record OfText(Path file, List<String> lines) implements Inspected {
            public OfText {
                lines = List.copyOf(lines);
            }
        }
    }

    /** The parts of a model that Vela compiled for an NPU: regions and operations. */
    static final class NpuParts {
        private NpuParts() {}

        /** The parts, in the order of the model. */
        static List<NpuPart> of(Function function) {
            return parts(function).map(NpuParts::part).toList();
        }

        /** The command streams, as a build gives them to tools. */
        static List<Artifact> streams(Function function) {
            List<Artifact> streams = new ArrayList<>();
            parts(function)
                    .forEach(part -> streams.add(new Artifact(
                            EthosUCodegen.NAME,
                            EthosUCodegen.NAME,
                            "part_" + streams.size() + EthosUCodegen.SUFFIX,
                            payload(part),
                            EthosUCodegen.NAME)));
            return streams;
        }

        private static Stream<Binding> parts(Function function) {
            return Stream.concat(
                    function.bindings().stream().filter(binding -> binding.op() instanceof EthosU),
                    function.functions().stream().flatMap(NpuParts::parts));
        }

        private static NpuPart part(Binding binding) {
            EthosU op = (EthosU) binding.op();
            DriverPayload payload = DriverPayload.read(
                    payload(binding),
                    (what, expected) ->
                            Failure.MODEL.exception(what, binding.origin().text(), expected));
            List<NpuOperation> operations = NpuOperations.of(payload);
            List<NpuRegion> regions = new ArrayList<>();
            regions.add(new NpuRegion(
                    "weights", binding.constant(op.payload() + 1).data().size()));
            regions.add(new NpuRegion("scratch", op.arenaBytes()));
            if (op.fastBytes() > 0) {
                regions.add(new NpuRegion("fast scratch", op.fastBytes()));
            }
            return new NpuPart(
                    binding.origin().tensor(),
                    payload.configuration().name(),
                    payload(binding).size(),
                    payload.commands().size(),
                    operations.stream().mapToLong(NpuOperation::macs).sum(),
                    regions,
                    bytes(operations, "weights"),
                    bytes(operations, "scales"),
                    bytes(operations, NpuOperation.TABLE),
                    operations.stream().map(NpuOperation::text).toList());
        }

        private static Bytes payload(Binding part) {
            return part.constant(((EthosU) part.op()).payload()).data();
        }

        /** Bytes that the operations read as something, each once, however often. */
        private static long bytes(List<NpuOperation> operations, String what) {
            return operations.stream()
                    .flatMap(operation -> operation.accesses().stream())
                    .filter(access -> access.what().equals(what))
                    .distinct()
                    .mapToLong(access -> access.end() - access.first())
                    .sum();
        }

        /** The parts in lines for people. */
        static List<String> lines(List<NpuPart> parts) {
            List<String> lines = new ArrayList<>();
            for (NpuPart part : parts) {
                lines.add("part `" + part.name() + "` for " + part.npu() + ": "
                        + part.operations().size()
                        + " operations, " + part.macs() + " MACs, " + part.commands() + " commands in "
                        + part.payloadBytes() + " bytes; weights " + part.weightBytes() + " bytes, scales "
                        + part.scaleBytes() + ", tables " + part.tableBytes());
                for (int i = 0; i < part.regions().size(); i++) {
                    NpuRegion region = part.regions().get(i);
                    lines.add("  region " + i + " " + region.name() + ", " + region.bytes() + " bytes");
                }
                part.operations().forEach(operation -> lines.add("  " + operation));
            }
            return lines;
        }
    }
}
