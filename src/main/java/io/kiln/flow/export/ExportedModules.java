// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.NdArrayFormat;
import io.kiln.artifact.ParameterFile;
import io.kiln.module.ArtifactLoaders;
import io.kiln.module.BuiltInModules.GraphFactoryModule;
import io.kiln.module.LinkedCode;
import io.kiln.module.ModuleExport;
import io.kiln.module.ModuleNode;
import io.kiln.module.ModuleReader;
import io.kiln.module.ModuleTree;
import io.kiln.module.SerializedArray;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The modules of a model: its C, which imports the modules that loaders make from payloads; with the graph executor,
 * the graph and its parameters, which import
 * the C.
 */
final class ExportedModules {
    private ExportedModules() {}

    /** The modules as a tree; empty for C alone, which needs none. */
    static Optional<ModuleTree> of(ModelLibrary library) {
        List<ModuleNode> payloads = ArtifactLoaders.installed().load(library.artifacts());
        boolean isGraph = library.metadata().api().executor() == ExecutorKind.GRAPH;
        if (payloads.isEmpty() && !isGraph) {
            return Optional.empty();
        }
        List<ModuleNode> graph = new ArrayList<>();
        if (isGraph) {
            graph.add(new ModuleNode("GraphExecutorFactory", factory(library), List.of(1)));
        }
        int first = graph.size() + 1;
        graph.add(new ModuleNode(
                "c",
                new LinkedCode(List.of()),
                IntStream.range(first, first + payloads.size()).boxed().toList()));
        graph.addAll(payloads);
        return Optional.of(ModuleExport.tree(graph));
    }

    private static GraphFactoryModule factory(ModelLibrary library) {
        String name = library.metadata().name();
        Artifact graph = library.artifacts().of(ArtifactKind.GRAPH).get(0);
        List<NamedTensor> tensors = library.artifacts().of(ArtifactKind.PARAMETERS).stream()
                .flatMap(file -> ParameterFile.read(file.content(), file.fileName()).stream())
                .sorted(Comparator.comparing(NamedTensor::name))
                .toList();
        List<SerializedArray> arrays = tensors.stream()
                .map(tensor -> SerializedArray.read(new ModuleReader(NdArrayFormat.encode(tensor), tensor.name())))
                .toList();
        return new GraphFactoryModule(
                graph.content(), tensors.stream().map(NamedTensor::name).toList(), arrays, name);
    }
}
