// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.CText;
import java.util.List;
import java.util.Locale;

/** Prints {@code tvmgen_<name>.h}, microTVM's C interface header. */
final class InterfaceHeader {
    private final AotModule module;
    private final StringBuilder out = new StringBuilder();

    private InterfaceHeader(AotModule module) {
        this.module = module;
    }

    static String print(AotModule module) {
        return new InterfaceHeader(module).print();
    }

    private String print() {
        String guard = module.macroPrefix() + "_H_";
        out.append(module.head());
        line("#ifndef " + guard);
        line("#define " + guard);
        line("#include <stdint.h>");
        line("");
        line("#ifdef __cplusplus");
        line("extern \"C\" {");
        line("#endif");
        module.inputs().forEach(t -> size("Input", t));
        module.outputs().forEach(t -> size("Output", t));
        struct("inputs", "Input tensor pointers", module.io() == Io.CALLER ? "const void*" : "void*", module.inputs());
        struct("outputs", "Output tensor pointers", "void*", module.outputs());
        if (module.io() == Io.CALLER) {
            line("");
            doc("Runs " + module.name() + " once; returns 0, or an error code of tvm/runtime/crt/error_codes.h.");
            line("int32_t " + runSignature(module) + ";");
        } else {
            workspaceInterface();
        }
        workspaceSize();
        if (module.stateBytes() > 0) {
            state();
        }
        line("");
        line("#ifdef __cplusplus");
        line("}");
        line("#endif");
        line("");
        line("#endif  // " + guard);
        return out.toString();
    }

    /** Name and parameters of the entry point. */
    static String runSignature(AotModule module) {
        String p = module.prefix();
        return module.io() == Io.CALLER
                ? p + "_run(struct " + p + "_inputs* inputs, struct " + p + "_outputs* outputs)"
                : p + "_run(struct " + p + "_workspace_pools* workspace_pools)";
    }

    /** Name and parameters of {@code map_inputs} or {@code map_outputs}. */
    static String mapSignature(AotModule module, String what) {
        String p = module.prefix();
        return "struct " + p + "_" + what + " " + p + "_map_" + what + "(struct " + p
                + "_workspace_pools* workspace_pools)";
    }

    private void line(String text) {
        out.append(text).append('\n');
    }

    private void doc(String text) {
        line("/*! \\brief " + CText.comment(text) + " */");
    }

    private void size(String kind, TensorInfo tensor) {
        line("");
        doc(kind + " tensor " + tensor.name() + " " + tensor.dtype().text() + tensor.shape() + ", size in bytes, of "
                + module.name());
        line("#define " + module.macroPrefix() + "_" + tensor.cName().toUpperCase(Locale.ROOT) + "_SIZE "
                + tensor.bytes());
    }

    private void struct(String suffix, String what, String type, List<TensorInfo> tensors) {
        line("");
        doc(what + " of " + module.name());
        line("struct " + module.prefix() + "_" + suffix + " {");
        tensors.forEach(t -> line("  " + type + " " + t.cName() + ";"));
        line("};");
    }

    private void workspaceInterface() {
        line("");
        doc("Workspace pool pointers of " + module.name() + ", each aligned to " + AotModule.POOL_ALIGNMENT + " bytes");
        line("struct " + module.prefix() + "_workspace_pools {");
        line("  void* " + AotModule.POOL + ";");
        line("};");
        line("");
        doc("Where the inputs lie in the pool; they are valid until run has read them.");
        line(mapSignature(module, "inputs") + ";");
        line("");
        doc("Where the outputs lie in the pool; they are valid after run until the next one.");
        line(mapSignature(module, "outputs") + ";");
        line("");
        doc("Runs " + module.name() + " once on the pool; returns 0, or an error code.");
        line("int32_t " + runSignature(module) + ";");
    }

    private void state() {
        line("");
        doc("Static memory in bytes that " + module.name() + " keeps from run to run; internal");
        line("#define " + module.macroPrefix() + "_STATE_SIZE " + module.stateBytes());
        line("");
        doc("Makes " + module.name() + " forget what it saw; returns 0.");
        line("int32_t " + module.resetName() + "(void);");
    }

    private void workspaceSize() {
        line("");
        boolean internal = module.io() == Io.CALLER;
        doc("Workspace of " + module.name() + " in bytes"
                + (internal ? "; internal, the caller provides nothing" : ", inputs and outputs included"));
        line("#define " + module.macroPrefix() + "_WORKSPACE_SIZE " + module.workspaceBytes());
        if (!internal) {
            line("");
            doc("Size in bytes of the pool " + AotModule.POOL);
            line("#define " + module.macroPrefix() + "_" + AotModule.POOL.toUpperCase(Locale.ROOT)
                    + "_WORKSPACE_POOL_SIZE " + module.workspaceBytes());
        }
    }
}
