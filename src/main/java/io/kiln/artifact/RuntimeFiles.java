// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Kiln's own C runtime and the templates of an archive, as artifacts sorted by name. */
public final class RuntimeFiles {
    private static final String CODEGEN_ID = "crt";

    private RuntimeFiles() {}

    /** {@code include/…} and {@code src/…} of the whole C runtime. */
    public static List<Artifact> runtime() {
        return runtime(EnumSet.allOf(RuntimeFeature.class));
    }

    /** The files of these features, and of all features that they need. */
    public static List<Artifact> runtime(Set<RuntimeFeature> features) {
        Set<RuntimeFeature> needed = RuntimeFeature.closure(features);
        return files("crt", ArtifactKind.RUNTIME).stream()
                .filter(file -> needed.stream().anyMatch(feature -> feature.has(file.fileName())))
                .toList();
    }

    /** Starting points for the user's own firmware: settings and platform hooks. */
    public static List<Artifact> templates() {
        return files("templates/mlf", ArtifactKind.TEMPLATE);
    }

    private static List<Artifact> files(String root, ArtifactKind kind) {
        List<Artifact> files = ResourceTree.read(root).entrySet().stream()
                .map(file -> Artifact.of(CODEGEN_ID, kind, file.getKey(), file.getValue()))
                .toList();
        if (files.isEmpty()) {
            throw new IllegalStateException("Kiln's jar has no folder " + root);
        }
        return files;
    }

    /** The limits in {@code crt_config.h} that models need whose functions are looked up by name. A limit stays as it is where that is enough. */
    public static final class RuntimeConfig {
        private static final Pattern DEFINITION = Pattern.compile("(#define (TVM_CRT_MAX_\\w+) )(\\d+)");

        private final Map<String, Integer> least = new TreeMap<>();

        private RuntimeConfig() {}

        /** What these models need at least: ranks, arguments, and lengths of names with their terminating zero. */
        public static RuntimeConfig of(Collection<ModelMetadata> models) {
            RuntimeConfig config = new RuntimeConfig();
            for (ModelMetadata model : models) {
                config.addCall(model.inputs(), model.outputs());
                config.addFunction(new InterfaceNames(model.name()).metadata());
                model.inputs()
                        .forEach(input -> config.raise("TVM_CRT_MAX_STRLEN_PARAM_NAME", zeroTerminated(input.name())));
                model.memory()
                        .storages()
                        .forEach(storage ->
                                config.raise("TVM_CRT_MAX_STRLEN_PARAM_NAME", zeroTerminated(storage.inputBinding())));
                for (OperatorInfo operator : model.operators()) {
                    config.addCall(operator.inputs(), operator.outputs());
                    config.addFunction(operator.name());
                }
            }
            return config;
        }

        /** Raises the limits in {@code crt_config.h}; returns any other file unchanged. */
        public Artifact applyTo(Artifact file) {
            if (!file.fileName().contains("crt_config.h")) {
                return file;
            }
            String text = DEFINITION.matcher(file.text()).replaceAll(this::raised);
            return file.withContent(Bytes.ofText(text));
        }

        private String raised(MatchResult definition) {
            int value = Integer.parseInt(definition.group(3));
            return Matcher.quoteReplacement(
                    definition.group(1) + Math.max(value, least.getOrDefault(definition.group(2), value)));
        }

        private void addCall(List<TensorInfo> inputs, List<TensorInfo> outputs) {
            raise("TVM_CRT_MAX_ARGS", inputs.size() + outputs.size());
            Stream.concat(inputs.stream(), outputs.stream())
                    .forEach(tensor -> raise("TVM_CRT_MAX_NDIM", tensor.shape().size()));
        }

        private void addFunction(String name) {
            raise("TVM_CRT_MAX_STRLEN_FUNCTION_NAME", zeroTerminated(name));
        }

        private void raise(String key, int value) {
            least.merge(key, value, Math::max);
        }

        private static int zeroTerminated(String text) {
            return Bytes.ofText(text).size() + 1;
        }
    }
}
