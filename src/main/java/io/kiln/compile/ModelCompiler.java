// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.Artifact.Loader;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.OperatorInfo;
import io.kiln.artifact.ModelMetadata.Plan;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.KilnException;
import io.kiln.executor.aot.AotExecutor;
import io.kiln.executor.aot.AotModule;
import io.kiln.executor.aot.CNames;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Group;
import io.kiln.ir.op.Trait;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.lower.Callee;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.memory.MemoryPlan;
import io.kiln.schedule.Dispatch;
import io.kiln.stream.PlannedProgram;
import io.kiln.stream.StreamPlanner;
import io.kiln.target.Target;
import io.kiln.transform.Pipeline;
import io.kiln.transform.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The compiler's road: a model file becomes a model library. */
public final class ModelCompiler {
    private static final String CODEGEN = "c";

    private ModelCompiler() {}

    /**
     * Compiles a model.
     *
     * @throws io.kiln.base.KilnException with everything that is wrong with the model or not supported
     */
    public static CompiledModel compile(CompileRequest request) {
        CNames.modelNameProblem(request.name(), "kiln.name").ifPresent(problem -> {
            throw new KilnException(problem);
        });
        return compile(
                request,
                Frontends.read(request.model(), request.name(), request.inputShapes(), request.customOperators()));
    }

    /** Compiles a model that was imported before. */
    public static CompiledModel compile(CompileRequest request, Function imported) {
        List<Stage> stages = Pipeline.of(request.passes()).stages(imported);
        Function fused = stages.get(stages.size() - 1).function();
        Target target = Target.parse(request.target()).asC();
        AotModule module = module(request, request.name(), fused, target, request.io(), false);
        return new CompiledModel(library(request, imported, fused, target, module), imported, stages, module);
    }

    private static ModelLibrary library(
            CompileRequest request, Function imported, Function fused, Target target, AotModule module) {
        TensorDescriptions tensors = TensorDescriptions.of(fused);
        List<Artifact> artifacts = new ArrayList<>(AotExecutor.emit(module));
        RelayPrinter.Module relay = request.slim()
                ? new RelayPrinter.Module(RelayPrinter.print(imported), List.of())
                : RelayPrinter.withParameters(imported);
        artifacts.add(Artifact.ofText(CODEGEN, Loader.RELAY, request.name() + ".relay", relay.text(), target.text()));
        artifacts.add(new Artifact(
                CODEGEN,
                Loader.PARAMETERS,
                request.name() + ".params",
                ParameterFile.write(relay.parameters()),
                target.text()));
        return new ModelLibrary(
                metadata(module, tensors, module.program().operators(), fused, macs(imported, fused)),
                new ArtifactSet(artifacts));
    }

    /** A function planned and lowered, and before it those that its operators call. */
    private static AotModule module(
            CompileRequest request, String name, Function fused, Target target, ModelMetadata.Io io, boolean called) {
        List<Callee> callees = new ArrayList<>();
        for (Function function : fused.functions()) {
            String own = name + "_" + callees.size();
            callees.add(AotExecutor.callee(module(request, own, function, target, ModelMetadata.Io.CALLER, true)));
        }
        Dispatch dispatch = new Dispatch(target, request.optimize(), callees);
        List<FusedOperator> operators = FusedOperator.all(fused, AotModule.prefix(name)).stream()
                .filter(op -> !op.root().op().has(Trait.VIEW))
                .toList();
        PlannedProgram planned = StreamPlanner.plan(
                fused, operators, dispatch::lower, request.optimize(), io == ModelMetadata.Io.WORKSPACE);
        TensorDescriptions tensors = TensorDescriptions.of(fused);
        return new AotModule(
                name,
                String.valueOf(request.model().getFileName()),
                target.text(),
                io,
                planned.program(),
                planned.layout(),
                tensors.inputs(),
                tensors.outputs(),
                callees,
                called);
    }

    private static ModelMetadata metadata(
            AotModule module,
            TensorDescriptions tensors,
            List<LoweredOperator> operators,
            Function fused,
            Map<Integer, Long> macs) {
        Map<Integer, List<String>> layers = layers(fused);
        MemoryPlan plan = module.layout().plan();
        return new ModelMetadata(
                module.name(),
                module.target(),
                module.io(),
                module.inputs(),
                module.outputs(),
                module.workspaceBytes(),
                AotModule.POOL_ALIGNMENT,
                module.constantBytes(),
                new Plan(
                        plan.algorithm(),
                        plan.bytes(),
                        plan.lowerBound(),
                        PlannedBuffers.of(module.program(), module.layout(), tensors)),
                operators.stream()
                        .map(o -> describe(o, tensors, layers.get(o.output()), macs.get(o.output())))
                        .toList());
    }

    /**
     * Multiply-accumulates of the operators as they were imported, by the ids that the fused groups compute: passes keep
     * ids but may leave less to do.
     */
    private static Map<Integer, Long> macs(Function imported, Function fused) {
        Map<Integer, Long> nominal = imported.bindings().stream().collect(Collectors.toMap(Binding::id, Binding::macs));
        return fused.groups().stream()
                .collect(Collectors.toMap(
                        Group::output,
                        group -> group.bindings().stream()
                                .mapToLong(id -> nominal.getOrDefault(id, 0L))
                                .sum()));
    }

    /** The model's own operators that became one group, by the id that the group computes. */
    private static Map<Integer, List<String>> layers(Function fused) {
        Map<Integer, Binding> bindings = fused.bindingsById();
        return fused.groups().stream()
                .collect(Collectors.toMap(
                        Group::output,
                        group -> group.bindings().stream()
                                .map(id -> bindings.get(id).origin().layer())
                                .distinct()
                                .toList()));
    }

    private static OperatorInfo describe(
            LoweredOperator operator, TensorDescriptions tensors, List<String> layers, long macs) {
        List<TensorInfo> inputs =
                operator.inputs().stream().map(tensors::describe).toList();
        return new OperatorInfo(
                operator.function().name(),
                layers,
                operator.op(),
                inputs,
                List.of(tensors.describe(operator.output())),
                macs,
                operator.executedMacs(),
                operator.function().constantBytes(),
                operator.scratchBytes(),
                operator.schedule(),
                operator.reason());
    }
}
