// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.GraphFile;
import io.kiln.artifact.GraphFile.Node;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
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
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.lower.LoweredOperator;
import io.kiln.reference.Interpreter;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Runs an image and the reference interpreter side by side, operator by operator, and names the first operator whose
 * output differs: to find errors in the user's own C, the compiler or the board.
 *
 * @param environment where the compiler of the references of custom operators comes from
 */
public record CompareLayersStep(Log log, ResolvedBuild build, ToolchainEnvironment environment) {
    private static final Duration LIMIT = Duration.ofMinutes(10);

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
                        line,
                        TransportTimeouts.of(build.spec().verify().limits(), true, LIMIT),
                        log::debug,
                        log::debug)) {
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
            throw Failure.CONFIG.exception(
                    "the image cannot be driven operator by operator",
                    "kiln:compare-layers",
                    "kiln.executor graph and kiln.application rpc",
                    "Set -Dkiln.executor=graph -Dkiln.application=rpc");
        }
        if (spec.models().stream().anyMatch(model -> ModelArchives.accepts(model.file()))) {
            throw Failure.VERIFY.exception(
                    "the reference interpreter does not know the operators of an archive",
                    "kiln.model",
                    "a model that Kiln compiles");
        }
    }

    private void compare(RpcClient client, ModelSource source, ModelLibrary library) {
        CompiledModel compiled = GenerateStep.compile(
                build, source, build.spec().calls().io(), build.spec().optimize());
        Function fused = compiled.stages().get(compiled.stages().size() - 1).function();
        List<Bytes> inputs = TestCases.random(
                        1, build.spec().verify().seed(), library.metadata().inputs())
                .get(0)
                .inputs();
        Map<String, Bytes> answers = answers(client, library, inputs);
        Map<String, Integer> outputOf = compiled.module().program().operators().stream()
                .collect(Collectors.toMap(operator -> operator.function().name(), LoweredOperator::output));
        Map<Integer, Bytes> onBoard = new HashMap<>();
        answers.forEach((name, answer) -> onBoard.put(outputOf.get(name), answer));
        Set<Integer> unknown = new HashSet<>();
        Map<Integer, Bytes> expected = new OperatorReferences(build.spec(), environment)
                .in(
                        fused,
                        (binding, args) -> {
                            unknown.add(requireVisible(fused, binding).id());
                            return List.of(onBoard.get(binding.id()));
                        },
                        all -> Interpreter.runAll(fused, inputs, all));
        long values = 0;
        int compared = 0;
        for (OperatorInfo operator : library.metadata().operators()) {
            int id = outputOf.get(operator.name());
            if (unknown.contains(id)) {
                log.warn(text(operator)
                        + " was not compared, because only its C knows what it computes; the operators behind"
                        + " it were given its own output. Name C that computes the same by <reference> in"
                        + " kiln.customOperators");
            } else if (answers.containsKey(operator.name())) {
                values += check(operator, answers.get(operator.name()), expected.get(id));
                compared++;
            }
        }
        log.info(String.format(
                Locale.ROOT,
                "Model %s: all %,d values of %d operators are those of the reference interpreter",
                source.name(),
                values,
                compared));
    }

    /** What each operator with an output answers on the board, by its function; all run in order. */
    private static Map<String, Bytes> answers(RpcClient client, ModelLibrary library, List<Bytes> inputs) {
        GraphFile graph = GraphFile.read(
                library.artifacts().of(ArtifactKind.GRAPH).get(0).content(),
                library.metadata().name());
        Map<String, Bytes> answers = new LinkedHashMap<>();
        try (GraphExecutor executor = GraphExecutor.create(client, client.systemLibrary(), graph)) {
            executor.loadParams(
                    library.artifacts().of(ArtifactKind.PARAMETERS).get(0).content());
            for (int i = 0; i < inputs.size(); i++) {
                executor.setInput(library.metadata().inputs().get(i).name(), inputs.get(i));
            }
            DebugExecutor debug = new DebugExecutor(executor);
            for (int i = 0; i < graph.nodes().size(); i++) {
                Node node = graph.nodes().get(i);
                debug.executeNode(i);
                if (node.isOperator() && node.outputs() > 0) {
                    answers.put(node.function(), debug.getNodeOutput(i, 0));
                }
            }
        }
        return answers;
    }

    /** An operator whose whole result the board shows. */
    private static Binding requireVisible(Function function, Binding binding) {
        IdentityHashMap<Binding, Boolean> own = new IdentityHashMap<>();
        function.bindings().forEach(each -> own.put(each, true));
        boolean isInside = !own.containsKey(binding);
        if (isInside || !binding.op().writes().isEmpty()) {
            throw Failure.VERIFY.exception(
                    "the operators behind a custom operator cannot be compared, because the board does not show "
                            + (isInside ? "what is inside IF and WHILE" : "outputs after the first"),
                    binding.origin().text(),
                    "a reference of this operator",
                    "Name C that computes the same by <reference> in kiln.customOperators");
        }
        return binding;
    }

    /** Returns the number of values, all of which are right. */
    private static long check(OperatorInfo operator, Bytes actual, Bytes expected) {
        Comparison comparison = Comparison.of(operator.outputs(), List.of(actual), List.of(expected));
        if (comparison.mismatches() > 0) {
            throw Failure.VERIFY.exception(
                    "the first wrong operator: " + comparison.first() + "; " + comparison.mismatches() + " of "
                            + comparison.outputs() + " values are wrong",
                    text(operator),
                    "what the reference computes",
                    "All operators before it that can be compared answer as they should; look at its C, and at"
                            + " what it calls");
        }
        return comparison.outputs();
    }

    private static String text(OperatorInfo operator) {
        TensorInfo output = operator.outputs().get(0);
        return operator.name() + " (" + String.join(", ", operator.layers()) + ") "
                + output.dtype().text() + output.shape();
    }
}
