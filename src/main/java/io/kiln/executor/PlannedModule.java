// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor;

import io.kiln.artifact.DeviceHooks;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata.Interface;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.lower.Callee;
import io.kiln.lower.LoweredOperator;
import io.kiln.stream.Program;
import io.kiln.stream.Program.PlannedProgram;
import io.kiln.stream.ProgramPools.WorkspaceLayout;
import io.kiln.target.MemoryPool;
import io.kiln.tir.PrimFunc;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A function of a model, lowered and planned, with everything that an executor needs.
 *
 * @param origin its source and target
 * @param names names of its functions, structs and macros
 * @param calling how it is called
 * @param pools what its workspace may lie in
 * @param planned what runs, and where it lies
 * @param callees what its operators call
 */
public record PlannedModule(
        CodeOrigin origin,
        InterfaceNames names,
        Calling calling,
        List<MemoryPool> pools,
        PlannedProgram planned,
        List<Callee> callees) {
    public PlannedModule {
        pools = List.copyOf(pools);
        callees = List.copyOf(callees);
    }

    /**
     * How a function of a model is called.
     *
     * @param api its interface
     * @param options of its packed functions, if it has any
     * @param byOperator whether an operator calls it, so that its variables are its caller's
     */
    public record Calling(Interface api, PackedOptions options, boolean byOperator) {}

    /** The interface by which programs call the function. */
    public Interface api() {
        return calling.api;
    }

    /** Options of its packed functions, if it has any. */
    public PackedOptions options() {
        return calling.options;
    }

    /** Whether an operator calls it, so that its variables are its caller's. */
    public boolean called() {
        return calling.byOperator;
    }

    public String name() {
        return names.model();
    }

    public Program program() {
        return planned.program();
    }

    /** The memory layout. */
    public WorkspaceLayout layout() {
        return planned.layout();
    }

    /** The devices whose drivers it calls. */
    public List<DeviceHooks> devices() {
        return api().devices();
    }

    /** Whether the caller passes pointers to inputs and outputs. */
    public boolean isCallerOwned() {
        return api().io() == Io.CALLER;
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
        return layout().bytes();
    }

    /** The pool of an address of the memory plan. */
    public WorkspacePool poolOf(long address) {
        List<WorkspacePool> used = workspacePools();
        return used.stream()
                .filter(pool -> pool.start() <= address)
                .reduce((lower, higher) -> higher)
                .orElse(used.get(0));
    }

    /** The pools that it uses, in the order of the request; none if it needs no workspace. A caller always passes at least one. */
    public List<WorkspacePool> workspacePools() {
        return IntStream.range(0, pools.size())
                .filter(i -> layout().bytes(i) > 0 || (!isCallerOwned() && workspaceBytes() == 0 && i == 0))
                .mapToObj(i -> new WorkspacePool(
                        pools.get(i).name(),
                        pools.get(i).alignment(),
                        layout().bounds().start(i),
                        layout().bytes(i),
                        pools.size() == 1
                                ? InterfaceNames.WORKSPACE_SECTION
                                : InterfaceNames.workspaceSection(pools.get(i).name())))
                .toList();
    }

    /**
     * Options of functions with the packed signature.
     *
     * @param systemLibrary whether they are listed in a system library, where programs find them by their names
     * @param checked whether they check their arguments
     */
    public record PackedOptions(boolean systemLibrary, boolean checked) {
        /** The usual options: functions are listed in a system library and check their arguments. */
        public static final PackedOptions USUAL = new PackedOptions(true, true);
    }

    /**
     * A memory pool that a module's workspace uses.
     *
     * @param name C name
     * @param alignment of its first byte
     * @param start its first address in the memory plan
     * @param bytes used of it, at least 1
     * @param section the linker section of a pool inside the generated C
     */
    public record WorkspacePool(String name, int alignment, long start, long bytes, String section) {}
}
