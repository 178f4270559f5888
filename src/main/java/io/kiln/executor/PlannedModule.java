// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata.Interface;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.codegen.CodeOrigin;
import io.kiln.lower.Callee;
import io.kiln.lower.LoweredOperator;
import io.kiln.stream.PlannedProgram;
import io.kiln.stream.Program;
import io.kiln.stream.WorkspaceLayout;
import io.kiln.target.MemoryPool;
import io.kiln.tir.PrimFunc;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A function of a model, lowered and planned, with everything that an executor needs.
 *
 * @param origin its source and target
 * @param names names of its functions, structs and macros
 * @param api how it is called
 * @param options of its packed functions, if it has any
 * @param pool what its workspace lies in
 * @param planned what runs, and where it lies
 * @param callees what its operators call
 * @param called whether an operator calls it, so that its variables are its caller's
 */
public record PlannedModule(
        CodeOrigin origin,
        InterfaceNames names,
        Interface api,
        PackedOptions options,
        MemoryPool pool,
        PlannedProgram planned,
        List<Callee> callees,
        boolean called) {
    public PlannedModule {
        callees = List.copyOf(callees);
    }

    /** Module name. */
    public String name() {
        return names.model();
    }

    /** The program. */
    public Program program() {
        return planned.program();
    }

    /** The memory layout. */
    public WorkspaceLayout layout() {
        return planned.layout();
    }

    /** Whether the caller passes pointers to inputs and outputs. */
    public boolean isCallerOwned() {
        return api.io() == Io.CALLER;
    }

    /** Functions that operators call, then the operators. */
    public List<PrimFunc> functions() {
        List<PrimFunc> functions = new ArrayList<>();
        callees.forEach(callee -> functions.addAll(callee.functions()));
        program().operators().forEach(operator -> functions.add(operator.function()));
        return functions;
    }

    /** Its operators, after those of the functions that they call. */
    public List<LoweredOperator> operators() {
        return Stream.concat(
                        callees.stream().flatMap(callee -> callee.operators().stream()), program().operators().stream())
                .toList();
    }

    /** Bytes of weights and tables. */
    public long constantBytes() {
        return functions().stream().mapToLong(PrimFunc::constantBytes).sum();
    }

    /** Planned bytes of the workspace. */
    public long workspaceBytes() {
        return layout().plan().bytes();
    }

    /** Whether it needs a workspace. */
    public boolean hasPool() {
        return workspaceBytes() > 0;
    }
}
