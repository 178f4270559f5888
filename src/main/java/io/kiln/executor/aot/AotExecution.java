// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.PackedApi;
import io.kiln.executor.ExecutableModule;
import io.kiln.executor.Executor;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.StateMemory;
import io.kiln.lower.Callee;
import io.kiln.tir.Buffer;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.TirVerifier;
import java.util.ArrayList;
import java.util.List;

/**
 * The ahead-of-time executor: {@code tvmgen_<name>___tvm_main__}, a function of the loop IR, calls the operators in
 * order, and the entry point calls it.
 */
public final class AotExecution implements Executor {
    /** Number of the operators' file, after the entry point, which is library 0. */
    private static final int OPERATORS = 1;

    /** Number of the packed operators' file, after the entry point and the metadata. */
    private static final int PACKED_OPERATORS = 2;

    @Override
    public ExecutableModule drive(PlannedModule module) {
        List<Buffer> statics = StateMemory.arrays(module);
        List<PrimFunc> functions = new ArrayList<>(module.functions());
        StateMemory.reset(module).ifPresent(functions::add);
        functions.addAll(MainFunctionBuilder.build(module));
        PrimFunc main = functions.get(functions.size() - 1);
        functions.forEach(function -> TirVerifier.verify(function, statics));
        return switch (module.api().convention()) {
            case TYPED -> typed(module, main, statics, functions);
            case PACKED_ENTRY, PACKED -> packed(module, main, statics, functions);
        };
    }

    private static ExecutableModule typed(
            PlannedModule module, PrimFunc main, List<Buffer> statics, List<PrimFunc> functions) {
        CodeUnit code = new CodeUnit(module.origin(), module.names().library(OPERATORS), statics, functions);
        return new ExecutableModule(
                code,
                EntryPoint.of(module, main).artifact(),
                List.of(InterfaceHeader.of(module, code.staticBytes()).artifact()),
                List.of());
    }

    private static ExecutableModule packed(
            PlannedModule module, PrimFunc main, List<Buffer> statics, List<PrimFunc> functions) {
        PackedFunctions packed = new PackedFunctions(module, main);
        CodeUnit code = new CodeUnit(
                module.origin(),
                module.names().library(PACKED_OPERATORS),
                statics,
                functions,
                new PackedApi(packed.inCode(), module.options().checked()));
        return new ExecutableModule(
                code,
                PackedEntryPoint.of(module, main, packed).artifact(),
                List.of(MetadataSource.of(module).artifact()),
                packed.names());
    }

    /** A module that operators of another one call. */
    public static Callee callee(PlannedModule module) {
        List<PrimFunc> functions = new ArrayList<>(module.functions());
        functions.addAll(MainFunctionBuilder.build(module));
        PrimFunc main = functions.get(functions.size() - 1);
        return new Callee(main, module.workspaceBytes(), functions, module.operators());
    }
}
