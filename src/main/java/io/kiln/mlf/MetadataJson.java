// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Storage;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** {@code metadata.json} of an archive, with microTVM's keys. */
final class MetadataJson {
    /** DLDeviceType of the CPU, the only supported device. */
    private static final int CPU = 1;

    /** Kiln's own key: target strings by key, where there are several. */
    static final String TARGET_KEYS = "target_keys";

    /** The code generator of operators that call CMSIS-NN; also the name of the library among the dependencies. */
    private static final String CMSIS_NN = "cmsis-nn";

    /** Finds CMSIS-NN's version in the comment at the head of C that calls it. */
    private static final Pattern VERSION = Pattern.compile("^// tvm target: cmsis-nn.* -version=([0-9.]+)");

    private static final DateTimeFormatter EXPORT_TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

    private MetadataJson() {}

    static String print(List<ModelLibrary> models, ModelLibraryFormat.Options options) {
        Map<String, Object> json = new TreeMap<>();
        if (OperatorStyle.isWhole(models)) {
            json.putAll(OperatorStyle.metadata(models.get(0).metadata(), time(options)));
        } else if (options.version() == ModelLibraryFormat.ONE_MODEL) {
            json.putAll(model(models.get(0), options));
        } else {
            Map<String, Object> modules = new TreeMap<>();
            models.forEach(m -> modules.put(m.metadata().name(), model(m, options)));
            json.put("modules", modules);
        }
        json.put("version", options.version());
        return PythonJson.print(json);
    }

    private static Map<String, Object> model(ModelLibrary library, ModelLibraryFormat.Options options) {
        ModelMetadata model = library.metadata();
        SortedMap<String, String> targets = library.artifacts().targets();
        boolean isOld = options.version() == ModelLibraryFormat.ONE_MODEL;
        Map<String, Object> json = new TreeMap<>(Map.of(
                "model_name",
                model.name(),
                "export_datetime",
                time(options),
                "style",
                "full-model",
                "executors",
                List.of(model.api().executor().text()),
                "target",
                isOld
                        ? Map.of(String.valueOf(CPU), model.target())
                        : library.artifacts().hasSeveralTargets()
                                ? List.copyOf(targets.values())
                                : List.of(model.target()),
                "memory",
                memory(model),
                "external_dependencies",
                dependencies(library, options)));
        if (!isOld && library.artifacts().hasSeveralTargets()) {
            json.put(TARGET_KEYS, targets);
        }
        return json;
    }

    /** Kiln's C runtime, and CMSIS-NN if the model calls it. */
    private static List<Map<String, String>> dependencies(ModelLibrary library, ModelLibraryFormat.Options options) {
        Map<String, String> runtime = Map.of(
                "short_name", "tvm_standalone_crt",
                "url", "./runtime",
                "url_type", "mlf_path",
                "version_spec", options.runtimeVersion());
        return library.artifacts().artifacts().stream()
                .filter(artifact -> artifact.codegenId().equals(CMSIS_NN))
                .map(artifact -> VERSION.matcher(artifact.text()))
                .filter(Matcher::find)
                .findFirst()
                .map(version -> List.of(
                        runtime,
                        Map.of(
                                "short_name",
                                CMSIS_NN,
                                "url",
                                "https://github.com/ARM-software/CMSIS-NN",
                                "url_type",
                                "git",
                                "version_spec",
                                version.group(1))))
                .orElse(List.of(runtime));
    }

    private static String time(ModelLibraryFormat.Options options) {
        return EXPORT_TIME.format(options.timestamp());
    }

    private static Map<String, Object> memory(ModelMetadata model) {
        Map<String, Object> memory = new TreeMap<>(Map.of("functions", functions(model)));
        if (model.api().executor() == ExecutorKind.GRAPH) {
            memory.put(
                    "sids",
                    model.memory().storages().stream()
                            .map(MetadataJson::storage)
                            .toList());
        }
        return memory;
    }

    private static Map<String, Object> storage(Storage storage) {
        Map<String, Object> json = new TreeMap<>(Map.of("storage_id", storage.id(), "size_bytes", storage.bytes()));
        if (!storage.inputBinding().isEmpty()) {
            json.put("input_binding", storage.inputBinding());
        }
        return json;
    }

    private static Map<String, Object> functions(ModelMetadata model) {
        long io = Stream.concat(model.inputs().stream(), model.outputs().stream())
                .mapToLong(TensorInfo::bytes)
                .sum();
        Map<String, Object> main = Map.of(
                "device", CPU,
                "workspace_size_bytes", model.workspaceBytes(),
                "constants_size_bytes", model.constantBytes(),
                "io_size_bytes", io,
                "inputs", tensors(model.inputs()),
                "outputs", tensors(model.outputs()));
        List<Map<String, Object>> operators = model.operators().stream()
                .map(operator -> Map.<String, Object>of(
                        "function_name",
                        operator.name(),
                        "workspace",
                        List.of(Map.of("device", CPU, "workspace_size_bytes", operator.workspaceBytes()))))
                .toList();
        return Map.of("main", List.of(main), "operator_functions", operators);
    }

    private static Map<String, Object> tensors(List<TensorInfo> tensors) {
        Map<String, Object> byName = new LinkedHashMap<>();
        tensors.forEach(tensor -> byName.put(
                tensor.name(),
                Map.of("size", tensor.bytes(), "dtype", tensor.dtype().text())));
        return byName;
    }

    /** JSON byte for byte as written by Python's {@code json.dump(value, indent=2, sort_keys=True)}. */
    static final class PythonJson {
        private final StringBuilder out = new StringBuilder();

        private PythonJson() {}

        /** Prints maps with string keys, lists, strings and integers. */
        static String print(Object value) {
            PythonJson json = new PythonJson();
            json.value(value, 0);
            return json.out.toString();
        }

        private void value(Object value, int depth) {
            if (value instanceof Map<?, ?> map) {
                TreeMap<String, Object> sorted = new TreeMap<>();
                map.forEach((key, item) -> sorted.put((String) key, item));
                Iterator<Map.Entry<String, Object>> entries = sorted.entrySet().iterator();
                block('{', '}', entries, depth, entry -> {
                    string(entry.getKey());
                    out.append(": ");
                    value(entry.getValue(), depth + 1);
                });
            } else if (value instanceof List<?> list) {
                block('[', ']', list.iterator(), depth, item -> value(item, depth + 1));
            } else if (value instanceof String text) {
                string(text);
            } else {
                out.append(((Number) value).longValue());
            }
        }

        private <T> void block(char open, char close, Iterator<T> items, int depth, Consumer<T> print) {
            out.append(open);
            boolean isEmpty = !items.hasNext();
            while (items.hasNext()) {
                newLine(depth + 1);
                print.accept(items.next());
                out.append(items.hasNext() ? "," : "");
            }
            if (!isEmpty) {
                newLine(depth);
            }
            out.append(close);
        }

        private void newLine(int depth) {
            out.append('\n').append("  ".repeat(depth));
        }

        private void string(String text) {
            out.append('"');
            text.chars().forEach(c -> {
                switch (c) {
                    case '"' -> out.append("\\\"");
                    case '\\' -> out.append("\\\\");
                    case '\n' -> out.append("\\n");
                    case '\r' -> out.append("\\r");
                    case '\t' -> out.append("\\t");
                    case '\b' -> out.append("\\b");
                    case '\f' -> out.append("\\f");
                    default -> {
                        if (c < ' ' || c > '~' + 1) {
                            out.append(String.format(Locale.ROOT, "\\u%04x", c));
                        } else {
                            out.append((char) c);
                        }
                    }
                }
            });
            out.append('"');
        }
    }
}
