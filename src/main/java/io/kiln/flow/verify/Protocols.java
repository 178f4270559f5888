// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.device.protocol.ConsoleProtocol;
import io.kiln.device.protocol.Protocol;
import io.kiln.device.rpc.RpcProtocol;
import io.kiln.device.rpc.RpcProtocol.HostGraph;
import io.kiln.device.rpc.client.TimedModel.Graph;
import io.kiln.device.transport.SessionLimits;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.resolve.ResolvedBuild;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Chooses the protocol by which a build's image is addressed. */
final class Protocols {
    private Protocols() {}

    /**
     * The protocol of a build.
     *
     * @param limit longest time to each answer; the build may set another
     */
    static Protocol of(ResolvedBuild build, Duration limit) {
        SessionLimits set = build.spec().verify().limits();
        return switch (build.spec().verify().over()) {
            case CONSOLE -> new ConsoleProtocol(limit, set);
            case RPC -> new RpcProtocol(limit, set, models(build), graphs(build));
        };
    }

    private static List<String> models(ResolvedBuild build) {
        return GenerateStep.store(build.spec().layout()).metadata().stream()
                .map(ModelMetadata::name)
                .toList();
    }

    /** The graphs of the models that have one; this computer walks them. */
    private static Map<String, HostGraph> graphs(ResolvedBuild build) {
        Map<String, HostGraph> graphs = new HashMap<>();
        files(build).forEach((name, graph) -> graphs.put(name, new HostGraph(graph.read(), graph.parameters())));
        return graphs;
    }

    /** The graphs of the models that have one, as the archives hold them. */
    static Map<String, Graph> files(ResolvedBuild build) {
        Map<String, Graph> graphs = new HashMap<>();
        for (ModelLibrary library : GenerateStep.store(build.spec().layout()).read()) {
            for (Artifact graph : library.artifacts().of(ArtifactKind.GRAPH)) {
                Bytes parameters = library.artifacts().of(ArtifactKind.PARAMETERS).stream()
                        .findFirst()
                        .map(Artifact::content)
                        .orElse(ParameterFile.write(List.of()));
                graphs.put(library.metadata().name(), new Graph(graph.content(), parameters));
            }
        }
        return graphs;
    }
}
