// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.contract;

import io.kiln.artifact.ModelIdentity;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.CText;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.Problems;
import io.kiln.base.ResourceTree;
import io.kiln.base.TextTemplate;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CallOptions;
import io.kiln.compile.CodeTarget;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.flow.build.QuantizedFiles;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.lang.model.SourceVersion;

/** Writes the Java classes by which a service talks to an image with the build's models. */
public record ContractStep(Log log, BuildSpec spec) {
    /**
     * Writes the classes. Files that an earlier run made and this one does not are deleted; others are left alone.
     *
     * @param directory root of source code
     * @param packageName the classes' package
     * @param withClients whether there are clients, which need Kiln's classes
     * @throws KilnException if there is no model, it cannot be read, or a name is not a valid Java name
     */
    public void run(Path directory, String packageName, boolean withClients) {
        Problems problems = new Problems(Failure.CONFIG);
        if (spec.models().isEmpty()) {
            problems.add("there is no model", "kiln.model", "a model file", "Name one with -Dkiln.model");
        }
        if (!SourceVersion.isName(packageName)) {
            problems.add(
                    "`" + packageName + "` is not a valid package name",
                    "kiln.contract.package",
                    "such as com.example.model",
                    "Name one with -Dkiln.contract.package");
        }
        problems.throwIfAny();
        List<ContractSources.Model> models = models();
        checkNames(models);
        Path folder = directory.resolve(packageName.replace('.', '/'));
        Map<String, String> files = new ContractSources(packageName, withClients).files(models);
        deleteOthers(folder, files.keySet());
        files.forEach((name, text) -> WholeFiles.write(folder.resolve(name), text));
        log.info("Contract of " + models.size() + " models in " + folder + ": " + String.join(", ", files.keySet()));
    }

    private List<ContractSources.Model> models() {
        List<ContractSources.Model> models = new ArrayList<>();
        for (ModelSource source : spec.models()) {
            ModelIdentity identity = ModelIdentity.of(source.file(), source.version());
            String file = source.file().getFileName().toString();
            metadata(source).forEach(metadata -> models.add(new ContractSources.Model(file, identity, metadata)));
        }
        return models;
    }

    private List<ModelMetadata> metadata(ModelSource source) {
        if (ModelArchives.accepts(source.file())) {
            return ModelArchives.chosen(ModelArchives.read(source.file()), source).stream()
                    .map(ModelLibrary::metadata)
                    .toList();
        }
        CompileRequest request = new CompileRequest(
                source.input(),
                CodeTarget.of(spec.boards().find("host").target()),
                spec.options().with(Optimize.SPEED).with(CallOptions.TYPED),
                new QuantizedFiles(spec, log).request(source));
        return List.of(ModelCompiler.compile(request).library().metadata());
    }

    private static void checkNames(List<ContractSources.Model> models) {
        Set<String> names = new HashSet<>();
        Problems problems = new Problems(Failure.CONFIG);
        for (ContractSources.Model model : models) {
            if (!names.add(model.className().toLowerCase(Locale.ROOT))) {
                problems.add(
                        "two models have classes named " + model.className(),
                        model.file(),
                        "names that differ in more than case and underscores",
                        "Set <name> of one of the models");
            }
        }
        problems.throwIfAny();
    }

    private static void deleteOthers(Path folder, Set<String> kept) {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(f -> f.getFileName().toString().endsWith(".java"))
                    .toList()) {
                if (!kept.contains(file.getFileName().toString()) && isGenerated(file)) {
                    Files.delete(file);
                }
            }
        } catch (IOException | UncheckedIOException e) {
            throw FileFailure.of("cannot look for earlier classes in", folder, e);
        }
    }

    private static boolean isGenerated(Path file) throws IOException {
        byte[] head = ContractSources.HEAD.getBytes(StandardCharsets.US_ASCII);
        try (InputStream in = Files.newInputStream(file)) {
            return Arrays.equals(in.readNBytes(head.length), head);
        }
    }

    /**
     * The classes of a package: {@code KilnTensor}, and for each model {@code <Model>Contract}, which needs nothing else, and {@code
     * <Model>Client}, which needs Kiln's classes.
     *
     * @param withClients whether there are clients
     */
    record ContractSources(String packageName, boolean withClients) {
        /** The line with which every file begins. */
        static final String HEAD = "// Generated by Kiln";

        /**
         * A model.
         *
         * @param file name of its file
         * @param identity its version and digest
         * @param metadata its tensors
         */
        record Model(String file, ModelIdentity identity, ModelMetadata metadata) {
            String className() {
                return ContractSources.className(metadata.name());
            }
        }

        Map<String, String> files(List<Model> models) {
            SortedMap<String, Bytes> templates = ResourceTree.read("contract");
            Map<String, String> files = new LinkedHashMap<>();
            files.put("KilnTensor.java", filled(templates, "KilnTensor", head("")));
            for (Model model : models) {
                Map<String, String> values = values(model);
                files.put(model.className() + "Contract.java", filled(templates, "Contract", values));
                if (withClients) {
                    files.put(model.className() + "Client.java", filled(templates, "Client", values));
                }
            }
            return files;
        }

        private static String filled(SortedMap<String, Bytes> templates, String name, Map<String, String> values) {
            return TextTemplate.filled(templates.get(name + ".java.template").text(), values);
        }

        private Map<String, String> head(String from) {
            Map<String, String> values = new LinkedHashMap<>();
            values.put(
                    "HEAD",
                    HEAD + from + ". Kiln claims no rights in its output: it is yours, under any licence you choose.");
            values.put("PACKAGE", packageName);
            return values;
        }

        private Map<String, String> values(Model model) {
            Map<String, String> values = head(" from " + comment(model.file()));
            values.put("MODEL", model.metadata().name());
            values.put("CLASS", model.className());
            values.put("MODEL_LITERAL", literal(model.metadata().name()));
            values.put("FILE_LITERAL", literal(model.file()));
            values.put("VERSION_LITERAL", literal(model.identity().version()));
            values.put("SHA256_LITERAL", literal(model.identity().sha256()));
            List<TensorInfo> inputs = model.metadata().inputs();
            List<TensorInfo> outputs = model.metadata().outputs();
            values.put("TENSORS", tensors("INPUT_", inputs) + tensors("OUTPUT_", outputs));
            values.put("INPUTS", names("INPUT_", inputs.size()));
            values.put("OUTPUTS", names("OUTPUT_", outputs.size()));
            return values;
        }

        private static String names(String prefix, int count) {
            return IntStream.range(0, count).mapToObj(i -> prefix + i).collect(Collectors.joining(", "));
        }

        private static String tensors(String prefix, List<TensorInfo> tensors) {
            StringBuilder out = new StringBuilder();
            for (int i = 0; i < tensors.size(); i++) {
                TensorInfo tensor = tensors.get(i);
                String shape = tensor.shape().stream().map(String::valueOf).collect(Collectors.joining(", "));
                out.append("    /** ").append(comment(tensor.name())).append(", ");
                out.append(tensor.dtype().text()).append(tensor.shape()).append(". */\n");
                out.append("    public static final KilnTensor ")
                        .append(prefix)
                        .append(i)
                        .append(" =\n");
                out.append("            new KilnTensor(")
                        .append(literal(tensor.name()))
                        .append(", \"");
                out.append(tensor.dtype().text())
                        .append("\", List.of(")
                        .append(shape)
                        .append("), ");
                out.append(tensor.scale())
                        .append("f, ")
                        .append(tensor.zeroPoint())
                        .append(");\n\n");
            }
            return out.toString();
        }

        /** A string constant. All but plain characters are escaped, so that the text can end neither the constant nor the line. */
        private static String literal(String text) {
            StringBuilder out = new StringBuilder("\"");
            for (int i = 0; i < text.length(); i++) {
                char c = text.charAt(i);
                if (c == '"' || c == '\\') {
                    out.append('\\').append(c);
                } else if (c < ' ') {
                    out.append(String.format(Locale.ROOT, "\\%03o", (int) c));
                } else if (c > '~') {
                    out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
                } else {
                    out.append(c);
                }
            }
            return out.append('"').toString();
        }

        /** Text in a comment. Java reads escapes even there, so that a backslash becomes a slash. */
        private static String comment(String text) {
            return CText.comment(text.replace('\\', '/')).replace("@", "(at)");
        }

        /** A class's name from a model's: {@code VisualWakeWords} from {@code visual_wake_words}. */
        private static String className(String model) {
            StringBuilder out = new StringBuilder();
            for (String word : model.split("_+", -1)) {
                if (!word.isEmpty()) {
                    out.append(word.substring(0, 1).toUpperCase(Locale.ROOT)).append(word.substring(1));
                }
            }
            return out.toString();
        }
    }
}
