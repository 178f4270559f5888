// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.codegen.c.CFilePrinter;
import io.kiln.stream.StoredValue;
import io.kiln.stream.StoredValue.Place;
import io.kiln.tir.PrimFunc;
import java.util.ArrayList;
import java.util.List;

/** Prints {@code <name>_lib0.c}: the entry point and the workspace pool. */
final class EntryPoint {
    /** kTvmErrorPlatformCheckFailure. */
    private static final String CHECK_FAILURE = "0x500";

    private final AotModule module;
    private final PrimFunc main;
    private final StringBuilder out = new StringBuilder();

    private EntryPoint(AotModule module, PrimFunc main) {
        this.module = module;
        this.main = main;
    }

    static String print(AotModule module, PrimFunc main) {
        return new EntryPoint(module, main).print();
    }

    private String print() {
        out.append(module.head());
        line("#include \"" + module.prefix() + ".h\"");
        if (CFilePrinter.declaresBool(main)) {
            line("#include <stdbool.h>");
        }
        line("");
        out.append(CFilePrinter.prototype(main));
        if (module.io() == Io.CALLER) {
            callerEntry();
        } else {
            map("inputs", Place.INPUT, module.inputs());
            map("outputs", Place.OUTPUT, module.outputs());
            workspaceEntry();
        }
        return out.toString();
    }

    private void line(String text) {
        out.append(text).append('\n');
    }

    private void callerEntry() {
        line("");
        if (module.hasPool()) {
            line("/* Values between operators, placed by the memory plan. */");
            line("static uint8_t " + AotModule.POOL + "[" + module.macroPrefix()
                    + "_WORKSPACE_SIZE] __attribute__((section(\".bss.noinit.tvm\"), aligned("
                    + AotModule.POOL_ALIGNMENT + ")));");
            line("");
        }
        line("int32_t " + InterfaceHeader.runSignature(module) + " {");
        List<String> arguments = new ArrayList<>();
        module.inputs().forEach(t -> arguments.add("inputs->" + t.cName()));
        module.outputs().forEach(t -> arguments.add("outputs->" + t.cName()));
        List<TensorInfo> all = new ArrayList<>(module.inputs());
        all.addAll(module.outputs());
        for (int i = 0; i < all.size(); i++) {
            checkAlignment(arguments.get(i), all.get(i).dtype().bytes());
        }
        if (module.hasPool()) {
            arguments.add(AotModule.POOL);
        }
        call(arguments);
    }

    private void workspaceEntry() {
        line("");
        line("int32_t " + InterfaceHeader.runSignature(module) + " {");
        String pool = "workspace_pools->" + AotModule.POOL;
        checkAlignment(pool, AotModule.POOL_ALIGNMENT);
        call(List.of(pool));
    }

    /** Misaligned memory is an error of the caller's; it is reported, never worked around. */
    private void checkAlignment(String pointer, int alignment) {
        if (alignment > 1) {
            line("  if (((uintptr_t)" + pointer + " & " + (alignment - 1) + "u) != 0u) {");
            line("    return " + CHECK_FAILURE + ";  /* kTvmErrorPlatformCheckFailure: not aligned to " + alignment
                    + " bytes */");
            line("  }");
        }
    }

    private void call(List<String> arguments) {
        line("  return " + module.mainName() + "(" + String.join(", ", arguments) + ");");
        line("}");
    }

    private void map(String what, Place place, List<TensorInfo> tensors) {
        line("");
        line(InterfaceHeader.mapSignature(module, what) + " {");
        line("  uint8_t* const pool = workspace_pools->" + AotModule.POOL + ";");
        line("  struct " + module.prefix() + "_" + what + " mapped = {");
        for (StoredValue value : module.program().values()) {
            if (value.place() == place) {
                line("      ." + tensors.get(value.index()).cName() + " = &pool["
                        + module.layout().value(value.id()) + "],");
            }
        }
        line("  };");
        line("  return mapped;");
        line("}");
    }
}
