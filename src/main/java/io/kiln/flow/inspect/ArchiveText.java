// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.Convention;
import io.kiln.artifact.LinkPlan;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.flow.verify.TensorText;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.module.ArtifactLoaders;
import io.kiln.report.Table;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** Shows a Model Library Format archive from any producer: its models, their memory and its files. */
final class ArchiveText {
    private static final Set<ArtifactKind> SHARED = Set.of(ArtifactKind.RUNTIME, ArtifactKind.TEMPLATE);

    private ArchiveText() {}

    /**
     * Describes an archive. If firmware cannot be built from it, the reasons come last.
     *
     * @throws io.kiln.base.KilnException if the file is not an archive
     */
    static List<String> lines(Path file) {
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
}
