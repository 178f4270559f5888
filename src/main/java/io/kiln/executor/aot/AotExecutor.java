// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.Artifact.Loader;
import io.kiln.codegen.c.CFilePrinter;
import io.kiln.lower.Callee;
import io.kiln.tir.Buffer;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.TirVerifier;
import java.util.ArrayList;
import java.util.List;

/** Turns a planned program into C: entry point, operators, header. */
public final class AotExecutor {
    private static final String CODEGEN = "c";

    private AotExecutor() {}

    /** {@code <name>_lib0.c}, {@code <name>_lib1.c} and {@code tvmgen_<name>.h}. */
    public static List<Artifact> emit(AotModule module) {
        List<PrimFunc> functions = functions(module);
        PrimFunc main = functions.get(functions.size() - 1);
        List<Buffer> state = StateMemory.arrays(module);
        functions.forEach(function -> TirVerifier.verify(function, state));
        String operators = CFilePrinter.print(module.head(), state, functions);
        return List.of(
                artifact(module, Loader.SOURCE, module.name() + "_lib0.c", EntryPoint.print(module, main)),
                artifact(module, Loader.SOURCE, module.name() + "_lib1.c", operators),
                artifact(module, Loader.HEADER, module.prefix() + ".h", InterfaceHeader.print(module)));
    }

    /** What the C is printed from, in the order of the file, the entry last. */
    public static List<PrimFunc> functions(AotModule module) {
        List<PrimFunc> functions = new ArrayList<>(module.functions());
        StateMemory.reset(module).ifPresent(functions::add);
        functions.add(MainFunction.build(module));
        return functions;
    }

    /** A module that operators of another one call. */
    public static Callee callee(AotModule module) {
        PrimFunc main = MainFunction.build(module);
        List<PrimFunc> functions = new ArrayList<>(module.functions());
        functions.add(main);
        return new Callee(main, module.workspaceBytes(), functions, module.operators());
    }

    private static Artifact artifact(AotModule module, Loader loader, String fileName, String text) {
        return Artifact.ofText(CODEGEN, loader, fileName, text, module.target());
    }
}
