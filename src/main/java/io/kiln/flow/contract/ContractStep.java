// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.contract;

import io.kiln.artifact.ModelIdentity;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.Problems;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CallOptions;
import io.kiln.compile.CodeTarget;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.flow.build.QuantizedFiles;
import io.kiln.flow.resolve.ModelArchives;
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
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
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
}
