// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ParameterFile;
import io.kiln.codegen.CodeGenerator;
import io.kiln.codegen.CodeUnit;
import io.kiln.compile.CompileRequest.ModelInput;
import io.kiln.compile.SharedFunctions.SharedTables;
import io.kiln.executor.ExecutableModule;
import io.kiln.executor.ExecutableModule.Executor;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.TensorHeader;
import io.kiln.executor.aot.AotExecution;
import io.kiln.executor.graph.GraphExecution;
import io.kiln.frontend.ReadModel;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Function;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.partition.Externals;
import io.kiln.quantize.QuantizeOptions.QuantizeRequest;
import io.kiln.quantize.Quantized;
import io.kiln.quantize.Quantizer;
import io.kiln.quantize.sample.Sample;
import io.kiln.quantize.sample.SampleReader;
import io.kiln.transform.Pipeline;
import io.kiln.transform.Pipeline.Stage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The compiler: makes a model library from a model file. */
public final class ModelCompiler {
    private ModelCompiler() {}

    /**
     * Compiles a model. One that is quantized first is read as {@link TfliteRounding#MICRO}, whose weights of int8 stand for floats.
     *
     * @throws io.kiln.base.KilnException with all errors and unsupported operators of the model
     */
    public static CompiledModel compile(CompileRequest request) {
        ModelInput model = request.model();
        ReadOptions reading = request.options().reading();
        return compile(
                request,
                Frontends.model(
                        model.file(),
                        model.name(),
                        model.shapes(),
                        request.quantize().isPresent() ? reading.with(TfliteRounding.MICRO) : reading));
    }

    /** Compiles a model that is already imported; it is quantized first if the request says so. */
    public static CompiledModel compile(CompileRequest request, Function model) {
        return compile(request, new ReadModel(model, List.of()));
    }

    private static CompiledModel compile(CompileRequest request, ReadModel read) {
        Optional<Quantized> quantized =
                request.quantize().map(quantize -> quantize(request.model().file(), read.function(), quantize));
        Function imported = quantized.map(Quantized::function).orElse(read.function());
        Externals externals = request.target().externals();
        List<Stage> stages =
                Pipeline.of(request.options().passes(), externals.passes()).stages(imported);
        Function fused = stages.get(stages.size() - 1).function();
        ModulePlanner planner = new ModulePlanner(request);
        PlannedModule module = planner.plan(fused);
        ExecutableModule driven = executor(request.calls()).drive(module);
        CodeUnit inPools = new ConstantPlacement(
                        request.target().pools().constants(), module.operators(), planner.readers())
                .place(driven.code());
        boolean isWhole = request.model().shapes().signature().isEmpty();
        RamPlacement.Placed placed =
                RamPlacement.place(request, module, isWhole ? SharedTables.within(inPools) : inPools);
        CodeUnit tables = isWhole ? placed.code() : SharedTables.amongSignatures(placed.code());
        ExecutableModule executable =
                driven.with(SharedFunctions.within(tables, request.options().optimize()));
        List<Artifact> artifacts = new ArrayList<>();
        artifacts.addAll(code(
                request,
                executable,
                TensorHeader.of(module, request.model().identity()),
                externals.generate(
                        module.origin(), number -> library(executable.code().name(), 1 + number), planner.external())));
        artifacts.addAll(text(request, imported));
        ModelLibrary library = new ModelLibrary(
                LibraryMetadata.of(
                        imported,
                        fused,
                        module,
                        executable,
                        SharedTables.savedBytes(tables),
                        externals,
                        placed.copies()),
                ArtifactSet.of(artifacts, externals.targets(artifacts)));
        return new CompiledModel(
                library,
                new ReadModel(imported, read.warnings()),
                stages,
                module,
                executable.code(),
                quantized,
                planner.choices());
    }

    private static Executor executor(CallOptions calls) {
        return switch (calls.executor()) {
            case AOT -> new AotExecution();
            case GRAPH, NONE -> new GraphExecution(calls.linkParams());
        };
    }

    /** Name of a library after that of the operators, {@code <name>_lib<n>}. */
    private static String library(String operators, int after) {
        int digits = operators.lastIndexOf("lib") + "lib".length();
        return operators.substring(0, digits) + (Integer.parseInt(operators.substring(digits)) + after);
    }

    /** Entry point, operators, the code of other generators, and what describes the model. */
    private static List<Artifact> code(
            CompileRequest request, ExecutableModule executable, Artifact tensors, List<Artifact> external) {
        CodeGenerator generator = CodeGenerators.of(request.target(), request.options());
        List<Artifact> others = new ArrayList<>(List.of(executable.entryPoint()));
        others.addAll(executable.description());
        if (request.calls().convention() == Convention.TYPED) {
            others.add(tensors);
        }
        List<Artifact> files = new ArrayList<>(generator.finish(others));
        List<Artifact> operators = new ArrayList<>(generator.generate(executable.code()));
        operators.addAll(generator.finish(external));
        files.addAll(1, operators);
        return files;
    }

    /** The model as Relay text, and the data of its constants. */
    private static List<Artifact> text(CompileRequest request, Function imported) {
        if (request.calls().executor() == ExecutorKind.GRAPH) {
            // The parameters are those of the graph: the text has its own constants.
            return List.of(
                    relay(request, request.slim() ? RelayPrinter.print(imported) : RelayPrinter.astext(imported)));
        }
        RelayPrinter.Module relay = request.slim()
                ? new RelayPrinter.Module(RelayPrinter.print(imported), List.of())
                : RelayPrinter.withParameters(imported);
        return List.of(
                relay(request, relay.text()),
                Artifact.of(
                        codegen(request),
                        ArtifactKind.PARAMETERS,
                        ArchivePaths.parametersFile(request.model().name()),
                        ParameterFile.write(relay.parameters())));
    }

    /** The {@link Artifact#codegenId} of the model as text: that of its code. */
    private static String codegen(CompileRequest request) {
        return request.target().host().kind().text();
    }

    private static Artifact relay(CompileRequest request, String text) {
        return Artifact.ofText(
                codegen(request),
                ArtifactKind.RELAY,
                ArchivePaths.relayFile(request.model().name()),
                text);
    }

    /**
     * Quantizes a model.
     *
     * @param file the model's file, whose name the origins of operators keep
     * @param imported the float model
     * @throws io.kiln.base.KilnException with what is wrong with the samples or the model, or if the result breaks a limit
     */
    private static Quantized quantize(Path file, Function imported, QuantizeRequest request) {
        List<Sample> samples =
                SampleReader.read(request.samples(), request.labels(), imported.params(), request.others());
        TfliteMaker maker = new TfliteMaker(String.valueOf(file.getFileName()));
        return new Quantizer(maker, request.progress()).quantize(imported, samples, request.options());
    }
}
