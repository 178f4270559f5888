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
import io.kiln.module.BuiltInModules.AotFactoryModule;
import io.kiln.module.BuiltInModules.GraphFactoryModule;
import io.kiln.module.BuiltInModules.MetadataModule;
import io.kiln.module.LinkedCode;
import io.kiln.module.ModuleExport;
import io.kiln.module.ModuleNode;
import io.kiln.module.ModuleReader;
import io.kiln.module.ModuleTree;
import io.kiln.module.SerializedArray;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The modules of a model: a factory, from which TVM makes the executor, and the C that it imports, which imports the modules that loaders make from
 * payloads. The graph executor's factory has the graph and its parameters; that of the ahead-of-time executor imports what tells the metadata
 * in the C.
 */
final class ExportedModules {
    private ExportedModules() {}

    /** The modules as a tree. */
    static ModuleTree of(ModelLibrary library) {
        List<ModuleNode> payloads = ArtifactLoaders.installed().load(library.artifacts());
        List<ModuleNode> modules = new ArrayList<>();
        if (library.metadata().api().executor() == ExecutorKind.GRAPH) {
            modules.add(new ModuleNode("GraphExecutorFactory", graph(library), List.of(1)));
        } else {
            String name = library.metadata().name();
            modules.add(
                    new ModuleNode("AotExecutorFactory", new AotFactoryModule(List.of(), List.of(), name), List.of(1)));
            modules.add(new ModuleNode("metadata_module", new MetadataModule(), List.of(2)));
        }
        int first = modules.size() + 1;
        modules.add(new ModuleNode(
                "c",
                new LinkedCode(List.of()),
                IntStream.range(first, first + payloads.size()).boxed().toList()));
        modules.addAll(payloads);
        return ModuleExport.tree(modules);
    }

    private static GraphFactoryModule graph(ModelLibrary library) {
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
