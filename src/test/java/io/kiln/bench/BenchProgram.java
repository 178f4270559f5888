// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import java.util.List;
import java.util.Locale;

/** What the bench program includes of a model. */
final class BenchProgram {
    private BenchProgram() {}

    /** Buffers, lists of tensors, {@code bench_map}, which fills them, {@code BENCH_RUN}, and {@code BENCH_RESET} if it remembers. */
    static String header(ModelMetadata model, int cases) {
        String p = new InterfaceNames(model.name()).prefix();
        StringBuilder text = new StringBuilder("#include \"" + p + ".h\"\n#define BENCH_CASES " + cases + "\n");
        text.append("typedef struct {\n  void* bytes;\n  uint32_t size;\n} bench_tensor;\n");
        text.append("static bench_tensor bench_inputs[" + model.inputs().size() + "];\n");
        text.append("static bench_tensor bench_outputs[" + model.outputs().size() + "];\n");
        boolean caller = model.io() == Io.CALLER;
        if (caller) {
            model.inputs().forEach(t -> text.append(buffer("input", t)));
            model.outputs().forEach(t -> text.append(buffer("output", t)));
            text.append("static struct " + p + "_inputs inputs;\nstatic struct " + p + "_outputs outputs;\n");
            text.append("#define BENCH_RUN " + p + "_run(&inputs, &outputs)\n");
        } else {
            text.append("extern uint8_t bench_pool[];\n");
            text.append("static struct " + p + "_workspace_pools pools;\n");
            text.append("#define BENCH_RUN " + p + "_run(&pools)\n");
        }
        text.append("#ifdef " + p.toUpperCase(Locale.ROOT) + "_STATE_SIZE\n#define BENCH_RESET " + p
                + "_reset()\n#endif\n");
        text.append("static void bench_map(void) {\n");
        if (!caller) {
            text.append("  pools.global_workspace = bench_pool;\n");
            text.append("  struct " + p + "_inputs inputs = " + p + "_map_inputs(&pools);\n");
            text.append("  struct " + p + "_outputs outputs = " + p + "_map_outputs(&pools);\n");
        }
        list(text, "input", model.inputs(), caller);
        list(text, "output", model.outputs(), caller);
        return text.append("}\n").toString();
    }

    /** The pool of a model with {@code io=workspace}, in a file of its own because it counts for the model. */
    static String pool(ModelMetadata model) {
        String size = "TVMGEN_" + model.name().toUpperCase(Locale.ROOT) + "_GLOBAL_WORKSPACE_WORKSPACE_POOL_SIZE";
        return model.io() == Io.CALLER
                ? "typedef int bench_no_pool;\n"
                : "#include \"" + new InterfaceNames(model.name()).header()
                        + "\"\nextern uint8_t bench_pool[];\nuint8_t bench_pool[" + size
                        + "] __attribute__((aligned(16)));\n";
    }

    private static String buffer(String kind, TensorInfo tensor) {
        return "static uint8_t " + kind + "_" + tensor.cName() + "[" + tensor.bytes()
                + "] __attribute__((aligned(16)));\n";
    }

    private static void list(StringBuilder text, String kind, List<TensorInfo> tensors, boolean caller) {
        for (int i = 0; i < tensors.size(); i++) {
            TensorInfo t = tensors.get(i);
            if (caller) {
                text.append("  " + kind + "s." + t.cName() + " = " + kind + "_" + t.cName() + ";\n");
            }
            String where = caller ? kind + "_" + t.cName() : kind + "s." + t.cName();
            text.append("  bench_" + kind + "s[" + i + "] = (bench_tensor){" + where + ", " + t.bytes() + "};\n");
        }
    }
}
