// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.GraphFile;
import io.kiln.artifact.GraphFile.Node;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata.OperatorInfo;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.compile.CompiledModel;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.rpc.client.DebugExecutor;
import io.kiln.device.rpc.client.GraphExecutor;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.Transport;
import io.kiln.firmware.app.Application;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.resolve.ModelArchives;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.ir.Function;
import io.kiln.lower.LoweredOperator;
import io.kiln.reference.Interpreter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Runs an image and the reference interpreter side by side, operator by operator, and names the first operator whose output differs: for
 * whoever's own C, compiler or board is wrong.
 */
public final class CompareLayersStep {
    private static final Duration LIMIT = Duration.ofMinutes(10);

    private final Log log;
    private final ResolvedBuild build;

    public CompareLayersStep(Log log, ResolvedBuild build) {
        this.log = log;
        this.build = build;
    }

    /**
     * Compares all models with seeded random inputs.
     *
     * @throws KilnException if an output differs, with operator, index, expected and actual; or if the image cannot be driven node by node
     */
    public void run() {
        RunnableImage image = RunnableImage.asBuilt(log, build);
        Emulator emulator = new Emulator(
                image.board(),
                LIMIT,
                Optional.of(build.spec().layout().reports().resolve("compare-layers.log")),
                build.spec().semihosting());
        Map<String, ModelLibrary> libraries = GenerateStep.store(build.spec().layout()).read().stream()
                .collect(Collectors.toMap(library -> library.metadata().name(), library -> library));
        try (Transport line = emulator.boot(image.file());
                RpcClient client = RpcClient.connect(
                        line, TransportTimeouts.EMULATOR.withReplies(LIMIT), log::debug, log::debug)) {
            for (ModelSource model : build.spec().models()) {
                compare(client, model, libraries.get(model.name()));
            }
        }
    }

    /**
     * Checks that images of a build can be driven operator by operator.
     *
     * @throws KilnException if not, with what to set
     */
    public static void requireGraphs(BuildSpec spec) {
        if (spec.calls().executor() != ExecutorKind.GRAPH || spec.application() != Application.RPC) {
            throw new KilnException(new Problem(
                    "the image cannot be driven operator by operator",
                    "kiln:compare-layers",
                    "kiln.executor graph and kiln.application rpc",
                    "Set -Dkiln.executor=graph -Dkiln.application=rpc"));
        }
        if (spec.models().stream().anyMatch(model -> ModelArchives.accepts(model.file()))) {
            throw new KilnException(new Problem(
                    "the reference interpreter does not know the operators of an archive",
                    "kiln.model",
                    "a model that Kiln compiles",
                    ""));
        }
    }

    private void compare(RpcClient client, ModelSource source, ModelLibrary library) {
        CompiledModel compiled = GenerateStep.compile(
                build, source, build.spec().io(), build.spec().optimize());
        Function fused = compiled.stages().get(compiled.stages().size() - 1).function();
        List<Bytes> inputs = TestCases.random(
                        1, build.spec().verify().seed(), library.metadata().inputs())
                .get(0)
                .inputs();
        Map<Integer, Bytes> expected = Interpreter.runAll(fused, inputs);
        Map<String, Integer> outputOf = compiled.module().program().operators().stream()
                .collect(Collectors.toMap(operator -> operator.function().name(), LoweredOperator::output));
        Map<String, OperatorInfo> operators = library.metadata().operators().stream()
                .collect(Collectors.toMap(OperatorInfo::name, operator -> operator));
        GraphFile graph =
                GraphFile.read(library.artifacts().of(ArtifactKind.GRAPH).get(0).content(), source.name());
        long values = 0;
        try (GraphExecutor executor = GraphExecutor.create(client, client.systemLibrary(), graph)) {
            executor.loadParams(library.artifacts().of(ArtifactKind.PARAMETERS).get(0).content());
            for (int i = 0; i < inputs.size(); i++) {
                executor.setInput(library.metadata().inputs().get(i).name(), inputs.get(i));
            }
            DebugExecutor debug = new DebugExecutor(executor);
            for (int i = 0; i < graph.nodes().size(); i++) {
                Node node = graph.nodes().get(i);
                debug.executeNode(i);
                if (node.isOperator() && node.outputs() > 0) {
                    OperatorInfo operator = operators.get(node.function());
                    values += check(operator, debug.getNodeOutput(i, 0), expected.get(outputOf.get(node.function())));
                }
            }
        }
        log.info(String.format(
                "Model %s: all %,d values of %d operators are those of the reference interpreter",
                source.name(), values, operators.size()));
    }

    /** Returns the number of values, all of which are right. */
    private static long check(OperatorInfo operator, Bytes actual, Bytes expected) {
        List<TensorInfo> output = operator.outputs();
        Comparison comparison = Comparison.of(output, List.of(actual), List.of(expected));
        if (comparison.mismatches() > 0) {
            throw new KilnException(new Problem(
                    "the first wrong operator: " + comparison.first() + "; " + comparison.mismatches() + " of "
                            + comparison.outputs() + " values are wrong",
                    operator.name() + " (" + String.join(", ", operator.layers()) + ") "
                            + output.get(0).dtype().text() + output.get(0).shape(),
                    "what the reference interpreter computes",
                    "All operators before it answer as they should; look at its C, and at what it calls"));
        }
        return comparison.outputs();
    }
}
