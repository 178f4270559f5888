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
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.compile.CodeTarget;
import io.kiln.compile.CompileOptions;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompileRequest.ModelInput;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.protocol.ConsoleProtocol;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.rpc.client.DebugExecutor;
import io.kiln.device.rpc.client.GraphExecutor;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.Transport;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareProject;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.UserCode;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.resolve.Resolver.ToolchainChoice;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.state.PluginVersion;
import io.kiln.flow.verify.VerificationCases.Comparison;
import io.kiln.frontend.CustomOperator;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.Variable;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.LoweredOperator;
import io.kiln.reference.Interpreter;
import io.kiln.reference.Interpreter.OpaqueOperators;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.Toolchain;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.compiler.Toolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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
import java.util.stream.IntStream;
import java.util.stream.Stream;

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

    /**
     * The reference implementations of custom operators: C of the user whose results are taken as correct. It is compiled for this computer,
     * each operator as a separate model, and runs in a separate process.
     */
    static final class OperatorReferences {
        private static final Duration LIMIT = Duration.ofMinutes(2);
        private static final String HOST = "host";

        private final BuildSpec spec;
        private final ToolchainEnvironment environment;
        private final Path folder;

        /**
         * @param spec the build, with its custom operators
         * @param environment where this computer's compiler comes from
         */
        OperatorReferences(BuildSpec spec, ToolchainEnvironment environment) {
            this.spec = spec;
            this.environment = environment;
            this.folder = spec.layout().reports().resolve("reference");
        }

        /**
         * Computes with the references of a function's operators.
         *
         * @param others computes the operators that have none
         * @param use gets what computes all of them
         * @throws KilnException if a reference cannot be compiled, or its function fails
         */
        <T> T in(Function function, OpaqueOperators others, java.util.function.Function<OpaqueOperators, T> use) {
            Board board = Boards.builtIn().find(HOST);
            List<ReferenceCall> calls = ReferenceCall.of(function)
                    .filter(call -> reference(call.call()).isPresent())
                    .toList();
            if (calls.isEmpty()) {
                return use.apply(others);
            }
            // Equal calls at two places are two calls.
            IdentityHashMap<Binding, Integer> numbers = new IdentityHashMap<>();
            calls.forEach(call -> numbers.put(call.binding(), numbers.size()));
            Path program = program(board, calls);
            Emulator process = new Emulator(board, LIMIT, Optional.of(folder.resolve("reference.log")), false);
            return process.talk(program, new ConsoleProtocol(LIMIT), text -> {}, session -> {
                List<ModelSession.Model> models = session.models();
                return use.apply((binding, args) -> {
                    Integer number = numbers.get(binding);
                    return number == null
                            ? others.run(binding, args)
                            : session.run(
                                    number,
                                    models.get(number),
                                    calls.get(number).inputs(args));
                });
            });
        }

        /** What references are compiled from: the C files, and the folders of headers beside them. */
        static List<Path> files(BuildSpec spec) {
            List<Path> files = spec.options().reading().customOperators().list().stream()
                    .map(CustomOperator::reference)
                    .filter(file -> !file.isEmpty())
                    .map(spec.layout().project()::resolve)
                    .distinct()
                    .toList();
            Stream<Path> headers = Stream.concat(
                            Stream.of(spec.layout().userSources()),
                            files.stream().map(Path::getParent))
                    .flatMap(folder -> headers(folder).stream());
            return files.isEmpty()
                    ? files
                    : Stream.concat(files.stream(), headers).distinct().toList();
        }

        private static List<Path> headers(Path folder) {
            return Fingerprint.filesBelow(folder).stream()
                    .filter(file -> file.toString().endsWith(".h"))
                    .toList();
        }

        private Optional<String> reference(CustomCall call) {
            return spec.options()
                    .reading()
                    .customOperators()
                    .of(call.code())
                    .map(CustomOperator::reference)
                    .filter(file -> !file.isEmpty());
        }

        /** Compiles and links the references with the models that call them. */
        private Path program(Board board, List<ReferenceCall> calls) {
            List<ModelLibrary> models = IntStream.range(0, calls.size())
                    .mapToObj(i -> model(calls.get(i), "reference_" + i, board))
                    .toList();
            List<Path> files = calls.stream()
                    .map(call -> reference(call.call()).orElseThrow())
                    .distinct()
                    .map(spec.layout().project()::resolve)
                    .toList();
            TargetOptions target = TargetOptions.parse(board.target());
            Toolchain toolchain = Toolchains.resolve(ToolchainChoice.of(Optional.empty(), board), target, environment);
            FirmwareRequest request = new FirmwareRequest(
                    board,
                    toolchain,
                    Optimize.SPEED,
                    new FirmwareRequest.Content(models, UserCode.of(sources(files))),
                    FirmwareRequest.Folders.in(folder),
                    PluginVersion.text());
            FirmwareProject project = FirmwareAssembler.assemble(request, Log.QUIET);
            if (!project.hasDefaultApplication()) {
                throw Failure.VERIFY.exception(
                        "a reference has a main of its own", "" + files, "functions of operators only");
            }
            return FirmwareLinker.link(FirmwareCompiler.compile(project, Log.QUIET), folder, "reference", Log.QUIET)
                    .elf();
        }

        private static ModelLibrary model(ReferenceCall call, String name, Board board) {
            CompileRequest request = new CompileRequest(
                    new ModelInput(Path.of(name), name),
                    CodeTarget.of(board.target()),
                    CompileOptions.DEFAULT,
                    Optional.empty());
            return ModelCompiler.compile(request, call.model(name)).library();
        }

        /** A folder with the references, the headers beside them, and those of the project's own C. */
        private Path sources(List<Path> files) {
            Path sources = folder.resolve("src");
            WholeFiles.clear(sources);
            copyHeaders(spec.layout().userSources(), sources);
            for (int i = 0; i < files.size(); i++) {
                Path own = sources.resolve("reference" + i);
                Path file = files.get(i);
                copyHeaders(file.toAbsolutePath().getParent(), own);
                if (!Files.isRegularFile(file)) {
                    throw Failure.VERIFY.exception(
                            "the reference of a custom operator is missing",
                            file.toString(),
                            "a C file",
                            "Correct <reference> in kiln.customOperators");
                }
                copy(file, own.resolve(file.getFileName()));
            }
            return sources;
        }

        private static void copyHeaders(Path from, Path to) {
            headers(from)
                    .forEach(path -> copy(path, to.resolve(from.relativize(path).toString())));
        }

        private static void copy(Path from, Path to) {
            try {
                WholeFiles.write(to, Files.readAllBytes(from));
            } catch (IOException e) {
                throw FileFailure.of("cannot copy", from, e);
            }
        }

        /**
         * A call of the user's C in a model, which can also be a model of its own.
         *
         * @param binding the call
         * @param types of the values of its function, by id
         */
        private record ReferenceCall(Binding binding, Map<Integer, TensorType> types) {
            /** All calls of a function, and of those that it calls. */
            static Stream<ReferenceCall> of(Function function) {
                Map<Integer, TensorType> types = function.types();
                return Stream.concat(
                        function.bindings().stream()
                                .filter(binding -> binding.op() instanceof CustomCall)
                                .map(binding -> new ReferenceCall(binding, types)),
                        function.functions().stream().flatMap(ReferenceCall::of));
            }

            CustomCall call() {
                return (CustomCall) binding.op();
            }

            List<Bytes> inputs(List<Bytes> args) {
                return IntStream.range(0, call().reads())
                        .filter(this::isComputed)
                        .mapToObj(args::get)
                        .toList();
            }

            private boolean isComputed(int argument) {
                return binding.args().get(argument) instanceof Arg.Ref;
            }

            /**
             * The call as a model: its inputs are the values that it reads, except constants; its outputs are its result, then the variables that it
             * writes. The header
             * is left out, because the generated C declares the function.
             */
            Function model(String name) {
                CustomCall call = call();
                List<Parameter> parameters = new ArrayList<>();
                List<Variable> variables = new ArrayList<>();
                List<Arg> args = new ArrayList<>(binding.args());
                List<Result> results = new ArrayList<>();
                results.add(new Result(call.arity(), "output0", Optional.empty()));
                for (int i = 0; i < call.arity(); i++) {
                    if (!isComputed(i)) {
                        continue;
                    }
                    TensorType type = types.get(binding.ref(i));
                    args.set(i, new Arg.Ref(i));
                    if (i < call.reads()) {
                        parameters.add(new Parameter(i, "input" + i, type, Optional.empty()));
                    } else {
                        String output = "output" + results.size();
                        variables.add(
                                new Variable(i, output, type, Bytes.wrap(new byte[Math.toIntExact(type.bytes())])));
                        results.add(new Result(i, output, Optional.empty()));
                    }
                }
                CustomCall own = new CustomCall(
                        call.code(),
                        call.function(),
                        "",
                        call.inputs(),
                        call.outputs(),
                        call.type(),
                        call.quantization(),
                        call.options());
                Binding alone = new Binding(call.arity(), own, args, binding.type(), binding.origin());
                return new Function(name, parameters, List.of(alone), results).withVariables(variables);
            }
        }
    }
}
