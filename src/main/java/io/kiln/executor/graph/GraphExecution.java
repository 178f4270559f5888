// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.graph;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.PackedApi;
import io.kiln.codegen.PackedFunction;
import io.kiln.executor.ExecutableModule;
import io.kiln.executor.Executor;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.StateMemory;
import io.kiln.executor.SystemLibrarySource;
import io.kiln.lower.LoweredOperator;
import io.kiln.tir.Buffer;
import io.kiln.tir.Buffer.Scope;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.TirVerifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The graph executor: packed operators in a system library, the graph, and the parameters of its nodes. With {@link ExecutorKind#NONE} there is
 * no graph: the operators stand for themselves.
 *
 * <p>Library 0 is the system library, library 1 has the operators.
 */
public final class GraphExecution implements Executor {
    private final boolean linked;

    /**
     * The graph executor of a model.
     *
     * @param linked whether constants lie in the C; otherwise they are parameters of the graph
     */
    public GraphExecution(boolean linked) {
        this.linked = linked;
    }

    @Override
    public ExecutableModule drive(PlannedModule module) {
        Optional<CodeUnit.Scratch> scratch = scratch(module);
        List<TensorFunction> operators = operators(module, linked);
        List<PrimFunc> code = new ArrayList<>();
        module.callees().forEach(callee -> code.addAll(callee.functions()));
        StateMemory.reset(module).ifPresent(code::add);
        operators.forEach(operator -> code.add(operator.function()));
        List<Buffer> statics = StateMemory.arrays(module);
        List<Buffer> known = new ArrayList<>(statics);
        scratch.ifPresent(shared -> known.add(shared.memory()));
        code.forEach(function -> TirVerifier.verify(function, known));
        List<PackedFunction> packed = packed(module, operators);
        CodeUnit unit = new CodeUnit(
                module.origin(),
                module.names().library(1),
                statics,
                code,
                new PackedApi(packed, module.options().checked()),
                scratch,
                CodeUnit.RamSections.NONE);
        List<String> names = packed.stream().map(PackedFunction::name).toList();
        Artifact library = SystemLibrarySource.file(
                        module.origin(),
                        module.names().library(0) + ".c",
                        module.options().systemLibrary() ? names : List.of())
                .artifact();
        if (module.api().executor() == ExecutorKind.NONE) {
            return new ExecutableModule(unit, library, List.of(), names);
        }
        StorageGraphBuilder.Built built = StorageGraphBuilder.of(module, operators);
        StoragePlan plan = StoragePlan.of(built.graph());
        return new ExecutableModule(unit, library, description(module, built, plan), names, plan.storages());
    }

    private static List<TensorFunction> operators(PlannedModule module, boolean linked) {
        Buffer memory = scratch(module)
                .map(CodeUnit.Scratch::memory)
                .orElse(new Buffer(module.pools().get(0).name(), DType.UINT8, 0, Scope.STATE));
        return module.program().operators().stream()
                .map(operator -> TensorFunction.of(module, operator, memory, linked))
                .toList();
    }

    /** The scratch that all operators share, as large as any of them needs. */
    private static Optional<CodeUnit.Scratch> scratch(PlannedModule module) {
        long most = module.program().operators().stream()
                .mapToLong(LoweredOperator::scratchBytes)
                .max()
                .orElse(0);
        return most == 0
                ? Optional.empty()
                : Optional.of(new CodeUnit.Scratch(
                        new Buffer(module.pools().get(0).name(), DType.UINT8, most, Scope.STATE),
                        module.pools().get(0).alignment()));
    }

    private static List<PackedFunction> packed(PlannedModule module, List<TensorFunction> operators) {
        List<PackedFunction> packed = new ArrayList<>();
        operators.forEach(operator -> packed.add(operator.packed()));
        if (!module.program().function().variables().isEmpty()) {
            packed.add(new PackedFunction(module.names().reset(), List.of()));
        }
        return packed;
    }

    private static List<Artifact> description(PlannedModule module, StorageGraphBuilder.Built built, StoragePlan plan) {
        String codegen = module.origin().target().kind().text();
        return List.of(
                Artifact.of(
                        codegen,
                        ArtifactKind.GRAPH,
                        ArchivePaths.graphFile(module.name()),
                        Bytes.ofText(GraphText.print(built.graph(), plan))),
                Artifact.of(
                        codegen,
                        ArtifactKind.PARAMETERS,
                        ArchivePaths.parametersFile(module.name()),
                        ParameterFile.write(built.parameters())));
    }
}
