// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.artifact.DlpackType;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Prints the function that runs a model with the packed interface once: its tensors as {@code DLTensor}s, on the stack. */
final class PackedCall {
    /** The parameters of a packed function. */
    static final String PARAMETERS = "(TVMValue*, int*, int, TVMValue*, int*, void*);";

    private final ModelMetadata model;
    private final List<TensorInfo> tensors;
    private final List<String> lines = new ArrayList<>();

    /**
     * The call of a model with the packed interface.
     *
     * @param tensors its inputs, then its outputs
     */
    PackedCall(ModelMetadata model, List<TensorInfo> tensors) {
        this.model = model;
        this.tensors = List.copyOf(tensors);
    }

    List<String> lines() {
        List<String> functions = model.api().functions();
        String run = functions.get(0);
        String reset = new InterfaceNames(model.name()).reset();
        boolean remembers = functions.contains(reset);
        lines.add("int32_t " + run + PARAMETERS);
        if (remembers) {
            lines.add("int32_t " + reset + PARAMETERS);
        }
        lines.add("");
        lines.add("static int32_t run_" + model.name() + "(void) {");
        arguments();
        lines.add("  TVMValue result = {.v_handle = NULL};");
        lines.add("  int code = kTVMNullptr;");
        if (remembers) {
            lines.add("  (void)" + reset + "(NULL, NULL, 0, &result, &code, NULL);");
        }
        lines.add("  return " + run + "(args, codes, " + tensors.size() + ", &result, &code, NULL);");
        lines.add("}");
        lines.add("");
        return lines;
    }

    private void arguments() {
        List<String> values = new ArrayList<>();
        int count = tensors.size();
        for (int i = 0; i < count; i++) {
            TensorInfo tensor = tensors.get(i);
            int rank = tensor.shape().size();
            if (rank > 0) {
                lines.add("  int64_t shape" + i + "[] = {"
                        + tensor.shape().stream().map(String::valueOf).collect(Collectors.joining(", ")) + "};");
            }
            values.add("      {.data = tensor_" + model.name() + "(" + i + "u), .device = {kDLCPU, 0}, .ndim = " + rank
                    + ", .dtype = " + DlpackType.of(tensor.dtype()).text() + ", .shape = "
                    + (rank > 0 ? "shape" + i : "NULL") + "},");
        }
        lines.add("  DLTensor tensors[] = {");
        lines.addAll(values);
        lines.add("  };");
        lines.add("  TVMValue args[" + count + "];");
        lines.add("  int codes[" + count + "];");
        lines.add("  for (int i = 0; i < " + count + "; ++i) {");
        lines.add("    args[i].v_handle = &tensors[i];");
        lines.add("    codes[i] = kTVMDLTensorHandle;");
        lines.add("  }");
    }
}
