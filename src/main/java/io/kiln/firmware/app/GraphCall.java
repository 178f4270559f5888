// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.artifact.DlpackType;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Prints the function that runs a model on the graph executor once. The executor is made by the first run, and kept; its inputs lie in the
 * application's memory, and its outputs are copied there. {@code tvmgen_<name>_run} is the run itself, for those who count its instructions.
 */
final class GraphCall {
    private final ModelMetadata model;
    private final List<TensorInfo> tensors;
    private final List<String> lines = new ArrayList<>();

    /**
     * The call of a model on the graph executor.
     *
     * @param tensors its inputs, then its outputs
     */
    GraphCall(ModelMetadata model, List<TensorInfo> tensors) {
        this.model = model;
        this.tensors = List.copyOf(tensors);
    }

    /** The code that all graphs of an image share: the runtime and the module of the system library. */
    static List<String> library() {
        return """
                /* The module of the system library; the first call starts the runtime. */
                static int library(TVMModuleHandle* module) {
                  static TVMModuleHandle made;
                  int error = 0;
                  if (made == NULL) {
                    error = (int)TVMInitializeRuntime();
                    if (error == 0) {
                      error = TVMModCreateFromCModule(TVMSystemLibEntryPoint(), &made);
                    }
                  }
                  *module = made;
                  return error;
                }
                """.lines().toList();
    }

    List<String> lines() {
        String name = model.name();
        lines.add("static TVMGraphExecutor* executor_" + name + ";");
        lines.add("");
        tensors();
        create();
        InterfaceNames names = new InterfaceNames(name);
        lines.add("int32_t " + names.run() + "(void);");
        lines.add("");
        lines.add("__attribute__((noinline)) int32_t " + names.run() + "(void) {");
        lines.add("  return TVMGraphExecutor_RunChecked(executor_" + name + ");");
        lines.add("}");
        lines.add("");
        boolean remembers = model.api().functions().contains(names.reset());
        if (remembers) {
            lines.add("int32_t " + names.reset() + PackedCall.PARAMETERS);
            lines.add("");
        }
        run(remembers, names);
        return lines;
    }

    /** The tensors that the executor reads and fills. */
    private void tensors() {
        String name = model.name();
        for (int i = 0; i < tensors.size(); i++) {
            List<Integer> shape = tensors.get(i).shape();
            if (!shape.isEmpty()) {
                lines.add("static int64_t shape" + i + "_" + name + "[] = {"
                        + shape.stream().map(String::valueOf).collect(Collectors.joining(", ")) + "};");
            }
        }
        lines.add("static DLTensor tensors_" + name + "[] = {");
        for (int i = 0; i < tensors.size(); i++) {
            int rank = tensors.get(i).shape().size();
            lines.add("    {NULL, {kDLCPU, 0}, " + rank + ", "
                    + DlpackType.of(tensors.get(i).dtype()).text() + ", "
                    + (rank > 0 ? "shape" + i + "_" + name : "NULL") + ", NULL, 0},");
        }
        lines.add("};");
        lines.add("");
    }

    private void create() {
        String name = model.name();
        String prefix = new InterfaceNames(name).prefix();
        lines.add("static int create_" + name + "(void) {");
        lines.add("  static const DLDevice cpu = {kDLCPU, 0};");
        lines.add("  TVMModuleHandle module = NULL;");
        lines.add("  for (uint32_t i = 0; i < " + tensors.size() + "u; ++i) {");
        lines.add("    tensors_" + name + "[i].data = tensor_" + name + "(i);");
        lines.add("  }");
        lines.add("  int error = 0;");
        lines.add("#ifdef " + GraphData.digestMacro(name));
        lines.add("  error = " + GraphData.check(name) + "();");
        lines.add("  if (error != 0) {");
        lines.add("    kiln_console_text(\"kiln: \");");
        lines.add("    kiln_console_text(TVMGetLastError());");
        lines.add("    kiln_console_text(\"\\r\\n\");");
        lines.add("    return error;");
        lines.add("  }");
        lines.add("#endif");
        lines.add("  error = library(&module);");
        lines.add("  if (error == 0) {");
        lines.add("    error = TVMGraphExecutor_Create(" + prefix + "_graph, module, &cpu, &executor_" + name + ");");
        lines.add("  }");
        lines.add("  if (error != 0) {");
        lines.add("    return error;");
        lines.add("  }");
        for (int i = 0; i < model.inputs().size(); i++) {
            lines.add("  TVMGraphExecutor_SetInput(executor_" + name + ", "
                    + quoted(model.inputs().get(i).name()) + ", &tensors_" + name + "[" + i + "]);");
        }
        lines.add("  error = TVMGraphExecutor_LoadParams(executor_" + name + ", (const char*)" + prefix + "_params,");
        lines.add("                                      " + prefix.toUpperCase(Locale.ROOT) + "_PARAMS_SIZE);");
        lines.add("  if (error != 0) {");
        lines.add("    (void)TVMGraphExecutor_Release(&executor_" + name + ");");
        lines.add("  }");
        lines.add("  return error;");
        lines.add("}");
        lines.add("");
    }

    private void run(boolean remembers, InterfaceNames names) {
        String name = model.name();
        int inputs = model.inputs().size();
        lines.add("static int32_t run_" + name + "(void) {");
        lines.add("  int32_t error = executor_" + name + " == NULL ? create_" + name + "() : 0;");
        if (remembers) {
            lines.add("  TVMValue result = {.v_handle = NULL};");
            lines.add("  int code = kTVMNullptr;");
            lines.add("  if (error == 0) {");
            lines.add("    error = " + names.reset() + "(NULL, NULL, 0, &result, &code, NULL);");
            lines.add("  }");
        }
        lines.add("  if (error == 0) {");
        lines.add("    error = " + names.run() + "();");
        lines.add("  }");
        lines.add("  for (int32_t i = 0; i < " + (tensors.size() - inputs) + " && error == 0; ++i) {");
        lines.add("    error = TVMGraphExecutor_GetOutput(executor_" + name + ", i, &tensors_" + name + "[" + inputs
                + " + i]);");
        lines.add("  }");
        lines.add("  return error;");
        lines.add("}");
        lines.add("");
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            boolean isPlain = b >= ' ' && b != '"' && b != '\\' && b != '?' && b != 0x7f;
            out.append(isPlain ? String.valueOf((char) b) : String.format(Locale.ROOT, "\\%03o", b & 0xff));
        }
        return out.append('"').toString();
    }
}
