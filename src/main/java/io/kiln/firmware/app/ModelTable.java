// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.artifact.DeviceHooks;
import io.kiln.artifact.DlpackType;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.InterfaceNames.Side;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.ExternalPool;
import io.kiln.artifact.ModelMetadata.ExternalPool.Kind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Prints {@code kiln_app_models.c}, the table of the models in an image.
 *
 * <p>Models that leave inputs and outputs to the caller share one buffer {@code kiln_app_io}, because only one runs at a
 * time. {@link #poolDefinitions} has what they expect beside.
 */
final class ModelTable {
    private static final int ALIGNMENT = 16;

    private final StringBuilder out = new StringBuilder();

    private ModelTable() {}

    /**
     * The C file with the table.
     *
     * @param hearing names of the models that take audio, too
     */
    static String print(List<ModelMetadata> models, Set<String> hearing) {
        ModelTable table = new ModelTable();
        List<AudioCall> calls = models.stream()
                .filter(model -> hearing.contains(model.name()))
                .map(AudioCall::new)
                .toList();
        table.head(models, calls);
        table.buffers(models);
        models.forEach(table::model);
        calls.forEach(call -> call.lines().forEach(table::line));
        table.table(models, calls);
        return table.out.toString();
    }

    private void head(List<ModelMetadata> models, List<AudioCall> calls) {
        line("/* SPDX-License-Identifier: Apache-2.0");
        line(" * Made by Kiln for the models in this image; this file is yours to use without conditions.");
        line(" */");
        line("#include \"kiln_app.h\"");
        line("#include <stddef.h>");
        models.stream()
                .filter(model -> !isPacked(model) && !isGraph(model))
                .forEach(model -> line("#include \"" + names(model).header() + "\""));
        calls.forEach(call -> line("#include \"" + call.header() + "\""));
        if (models.stream().anyMatch(ModelTable::isPacked)) {
            line("#include <tvm/runtime/c_runtime_api.h>");
        }
        if (models.stream().anyMatch(ModelTable::isGraph)) {
            line("#include \"kiln_console.h\"");
            line("#include <tvm/runtime/crt/crt.h>");
            line("#include <tvm/runtime/crt/graph_executor.h>");
            line("#include <tvm/runtime/crt/module.h>");
            models.stream()
                    .filter(ModelTable::isGraph)
                    .forEach(model -> line("#include \"" + GraphData.header(model.name()) + "\""));
            line("");
            GraphCall.library().forEach(this::line);
        }
        line("");
    }

    private void buffers(List<ModelMetadata> models) {
        long io = models.stream()
                .filter(m -> m.io() == Io.CALLER)
                .mapToLong(m -> offsets(m).get(tensors(m).size()))
                .max()
                .orElse(0);
        if (io > 0) {
            line("/* Inputs, then outputs of the model that runs. */");
            line("__attribute__((aligned(" + ALIGNMENT + "))) static uint8_t kiln_app_io[" + io + "];");
            line("");
        }
        poolDefinitions(models).forEach(this::line);
        models.stream()
                .flatMap(model -> model.api().devices().stream())
                .map(DeviceHooks::instance)
                .distinct()
                .sorted()
                .forEach(instance -> line("/* The context of a device; its driver defines it. */\nextern void* const "
                        + instance + ";\n"));
    }

    private void model(ModelMetadata model) {
        String name = model.name();
        String sizes = tensors(model).stream().map(t -> t.bytes() + "u").collect(Collectors.joining(", "));
        line("static const uint32_t sizes_" + name + "[] = {" + sizes + "};");
        line("");
        if (model.io() == Io.CALLER) {
            callerModel(model);
        } else {
            workspaceModel(model);
        }
    }

    private void callerModel(ModelMetadata model) {
        String name = model.name();
        InterfaceNames names = names(model);
        List<Long> offsets = offsets(model);
        String list = offsets.subList(0, tensors(model).size()).stream()
                .map(offset -> offset + "u")
                .collect(Collectors.joining(", "));
        line("static uint8_t* tensor_" + name + "(uint32_t index) {");
        line("  static const uint32_t offsets[] = {" + list + "};");
        line("  return kiln_app_io + offsets[index];");
        line("}");
        line("");
        if (isGraph(model)) {
            new GraphCall(model, tensors(model)).lines().forEach(this::line);
            return;
        }
        if (isPacked(model)) {
            new PackedCall(model, tensors(model)).lines().forEach(this::line);
            return;
        }
        line("static int32_t run_" + name + "(void) {");
        line("  " + names.struct(Side.INPUTS) + " inputs;");
        line("  " + names.struct(Side.OUTPUTS) + " outputs;");
        int index = 0;
        for (TensorInfo input : model.inputs()) {
            line("  inputs." + input.cName() + " = tensor_" + name + "(" + index++ + "u);");
        }
        for (TensorInfo output : model.outputs()) {
            line("  outputs." + output.cName() + " = tensor_" + name + "(" + index++ + "u);");
        }
        if (takesPools(model)) {
            line(poolStruct(model));
        }
        reset(model);
        String devices = devices(model);
        line("  return " + names.run() + "(&inputs, &outputs" + (takesPools(model) ? ", &pools" : "") + devices + ");");
        line("}");
        line("");
    }

    /** Declares the contexts of a model's devices, which lie with their drivers; returns the argument. */
    private String devices(ModelMetadata model) {
        if (model.api().devices().isEmpty()) {
            return "";
        }
        String members = model.api().devices().stream()
                .map(device -> "." + device.device() + " = " + device.instance())
                .collect(Collectors.joining(", "));
        line("  " + names(model).devicesStruct() + " devices = {" + members + "};");
        return ", &devices";
    }

    /** Resets the state of a model, so that each request is independent. The macro may also be the size of a tensor named {@code state}. */
    private void reset(ModelMetadata model) {
        if (tensors(model).stream().anyMatch(tensor -> tensor.cName().equalsIgnoreCase("state"))) {
            return;
        }
        InterfaceNames names = names(model);
        line("#ifdef " + names.stateSize());
        line("  (void)" + names.reset() + "();");
        line("#endif");
    }

    private void workspaceModel(ModelMetadata model) {
        String name = model.name();
        InterfaceNames names = names(model);
        line("static uint8_t* tensor_" + name + "(uint32_t index) {");
        line(poolStruct(model));
        line("  " + names.struct(Side.INPUTS) + " inputs = " + names.map(Side.INPUTS) + "(&pools);");
        line("  " + names.struct(Side.OUTPUTS) + " outputs = " + names.map(Side.OUTPUTS) + "(&pools);");
        line("  switch (index) {");
        List<String> members = Stream.concat(
                        model.inputs().stream().map(t -> "inputs." + t.cName()),
                        model.outputs().stream().map(t -> "outputs." + t.cName()))
                .toList();
        for (int i = 0; i < members.size(); i++) {
            line(i == members.size() - 1 ? "    default:" : "    case " + i + "u:");
            line("      return (uint8_t*)" + members.get(i) + ";");
        }
        line("  }");
        line("}");
        line("");
        line("static int32_t run_" + name + "(void) {");
        line(poolStruct(model));
        String devices = devices(model);
        reset(model);
        line("  return " + names.run() + "(&pools" + devices + ");");
        line("}");
        line("");
    }

    private void table(List<ModelMetadata> models, List<AudioCall> calls) {
        line("const uint8_t kiln_app_model_count = " + (models.size() + calls.size()) + "u;");
        line("const struct kiln_app_model kiln_app_models[] = {");
        for (ModelMetadata model : models) {
            String name = model.name();
            line("    {\"" + name + "\", " + model.inputs().size() + "u, "
                    + model.outputs().size() + "u, sizes_" + name + ", tensor_" + name + ", run_" + name + ", NULL},");
        }
        calls.forEach(call -> line("    " + call.entry()));
        line("};");
    }

    private static boolean isPacked(ModelMetadata model) {
        return !isGraph(model) && model.api().convention().hasPackedEntry();
    }

    private static boolean isGraph(ModelMetadata model) {
        return model.api().executor() == ExecutorKind.GRAPH;
    }

    private static InterfaceNames names(ModelMetadata model) {
        return new InterfaceNames(model.name());
    }

    private static List<TensorInfo> tensors(ModelMetadata model) {
        return Stream.concat(model.inputs().stream(), model.outputs().stream()).toList();
    }

    /** Aligned offset of each tensor in the shared buffer, followed by the buffer's size. */
    private static List<Long> offsets(ModelMetadata model) {
        List<Long> offsets = new ArrayList<>();
        long next = 0;
        for (TensorInfo tensor : tensors(model)) {
            offsets.add(next);
            next = (next + tensor.bytes() + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        }
        offsets.add(next);
        return offsets;
    }

    private void line(String text) {
        out.append(text).append('\n');
    }

    /**
     * Prints what runs a model on audio: samples become rows of its input as the console brings them, so that a recording needs no memory.
     *
     * @param model a model with signal processing before its only input
     */
    private record AudioCall(ModelMetadata model) {
        String header() {
            return names().preprocessHeader();
        }

        List<String> lines() {
            String outputs = model.outputs().stream()
                    .map(TensorInfo::bytes)
                    .map(bytes -> ", " + bytes + "u")
                    .collect(Collectors.joining());
            String rows = model.inputs().get(0).dtype().cName() + "*";
            return """
                static const uint32_t audio_sizes_@NAME@[] = {@M@_SAMPLES * 2u@OUTPUTS@};

                /* Samples become rows of the input of @NAME@ as they come, low byte first. */
                static void take_@NAME@(uint32_t at, uint8_t byte) {
                  static struct @P@ state;
                  static @ROWS@ row;
                  static uint8_t low;
                  if (at == 0u) {
                    @P@_init(&state);
                    row = (@ROWS@)(void*)tensor_@NAME@(0u);
                  }
                  if (at % 2u == 0u) {
                    low = byte;
                    return;
                  }
                  int16_t sample = (int16_t)(uint16_t)(low | byte << 8);
                  (void)@P@_feed(&state, &sample, 1u);
                  if (state.filled == @M@_WINDOW) {
                    (void)@P@_next(&state, row);
                    row += @M@_FEATURES;
                  }
                }
                """.replace("@NAME@", model.name())
                    .replace("@M@", names().macro("preprocess"))
                    .replace("@P@", names().preprocess())
                    .replace("@ROWS@", rows)
                    .replace("@OUTPUTS@", outputs)
                    .lines()
                    .toList();
        }

        /** The entry in the table. The memory of inputs and outputs is that of the model. */
        String entry() {
            String name = model.name();
            return "{\"" + names().audio() + "\", 1u, " + model.outputs().size() + "u, audio_sizes_" + name
                    + ", tensor_" + name + ", run_" + name + ", take_" + name + "},";
        }

        private InterfaceNames names() {
            return new InterfaceNames(model.name());
        }
    }

    /**
     * The memory of pools that models expect from their caller. They share a workspace pool of one name, because only one of them runs at a time. Constants
     * have initial values, so each model has its own.
     */
    private static List<String> poolDefinitions(List<ModelMetadata> models) {
        List<String> lines = new ArrayList<>();
        Map<String, Long> workspaces = new TreeMap<>();
        for (ModelMetadata model : models) {
            of(model, Kind.WORKSPACE).forEach(pool -> workspaces.merge(pool.name(), pool.bytes(), Math::max));
        }
        int alignment = models.stream()
                .filter(model -> !of(model, Kind.WORKSPACE).isEmpty())
                .mapToInt(ModelMetadata::workspaceAlignment)
                .reduce(ALIGNMENT, Math::max);
        workspaces.forEach((pool, bytes) -> lines.addAll(List.of(
                "/* Workspace of the model that runs. */",
                placed(InterfaceNames.workspaceSection(pool), alignment) + " static uint8_t " + workspace(pool) + "["
                        + Math.max(1, bytes) + "];",
                "")));
        models.forEach(model -> of(model, Kind.CONSTANTS).forEach(pool -> lines.addAll(constantPool(model, pool))));
        return lines;
    }

    private static List<String> constantPool(ModelMetadata model, ExternalPool pool) {
        InterfaceNames names = new InterfaceNames(model.name());
        return List.of(
                "/* Constants of " + model.name() + ". */",
                placed(InterfaceNames.constantsSection(pool.name()), ALIGNMENT) + " static const uint8_t "
                        + constants(model, pool) + "[" + names.constantPoolSize(pool.name()) + "] = {",
                "    " + names.constantPoolData(pool.name()) + "};",
                "");
    }

    /** Whether the functions of a model take pools. */
    private static boolean takesPools(ModelMetadata model) {
        return !model.memory().pools().isEmpty();
    }

    /** The definition of the struct that a model's functions take. */
    private static String poolStruct(ModelMetadata model) {
        String members = model.memory().pools().stream()
                .map(pool ->
                        pool.kind() == Kind.WORKSPACE ? workspace(pool.name()) : "(void*)" + constants(model, pool))
                .collect(Collectors.joining(", "));
        return "  " + new InterfaceNames(model.name()).poolsStruct() + " pools = {" + members + "};";
    }

    private static List<ExternalPool> of(ModelMetadata model, Kind kind) {
        return model.memory().pools().stream()
                .filter(pool -> pool.kind() == kind)
                .toList();
    }

    private static String placed(String section, int alignment) {
        return "__attribute__((section(\"" + section + "\"), aligned(" + alignment + ")))";
    }

    private static String workspace(String pool) {
        return "kiln_app_workspace_" + pool;
    }

    private static String constants(ModelMetadata model, ExternalPool pool) {
        return "constants_" + model.name() + "_" + pool.name();
    }

    /**
     * Prints the function that runs a model on the graph executor once. The executor is made by the first run, and kept; its inputs lie in the
     * application's memory, and its outputs are copied there. {@code tvmgen_<name>_run} is the run itself, for those who count its instructions.
     */
    private static final class GraphCall {
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
            lines.add(
                    "    error = TVMGraphExecutor_Create(" + prefix + "_graph, module, &cpu, &executor_" + name + ");");
            lines.add("  }");
            lines.add("  if (error != 0) {");
            lines.add("    return error;");
            lines.add("  }");
            for (int i = 0; i < model.inputs().size(); i++) {
                lines.add("  TVMGraphExecutor_SetInput(executor_" + name + ", "
                        + quoted(model.inputs().get(i).name()) + ", &tensors_" + name + "[" + i + "]);");
            }
            lines.add(
                    "  error = TVMGraphExecutor_LoadParams(executor_" + name + ", (const char*)" + prefix + "_params,");
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
}
