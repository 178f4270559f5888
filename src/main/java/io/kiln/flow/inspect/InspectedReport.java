// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.flow.build.MemoryReports;
import io.kiln.flow.inspect.Inspected.OfArchive;
import io.kiln.flow.inspect.Inspected.OfImage;
import io.kiln.flow.inspect.Inspected.OfLibrary;
import io.kiln.flow.inspect.Inspected.OfModel;
import io.kiln.flow.inspect.Inspected.OfText;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.module.ModuleLoaders;
import io.kiln.module.SharedLibrary;
import io.kiln.report.ReportedTensor;
import io.kiln.report.listing.InspectReport.Archive;
import io.kiln.report.listing.InspectReport.ArchivedModel;
import io.kiln.report.listing.InspectReport.Image;
import io.kiln.report.listing.InspectReport.Library;
import io.kiln.report.listing.InspectReport.LibraryModule;
import io.kiln.report.listing.InspectReport.Model;
import io.kiln.report.listing.InspectReport.Operator;
import io.kiln.report.listing.InspectReport.Part;
import io.kiln.report.listing.InspectReport.Shown;
import io.kiln.report.listing.InspectReport.Text;
import java.util.List;
import java.util.SortedMap;

/** The contents of an inspected file, for programs. */
final class InspectedReport {
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
        SharedLibrary library =
                SharedLibrary.read(file.elf(), String.valueOf(file.file().getFileName()), ModuleLoaders.installed());
        return new Library(
                "library",
                path(file),
                library.tree().modules().stream()
                        .map(module -> new LibraryModule(
                                module.typeKey(), module.payload().functions(), module.imports()))
                        .toList(),
                library.artifacts().artifacts().stream()
                        .map(artifact ->
                                new Part(artifact.fileName(), artifact.content().size()))
                        .toList());
    }

    private static List<ReportedTensor> tensors(List<TensorInfo> tensors) {
        return tensors.stream().map(ReportedTensor::of).toList();
    }
}
