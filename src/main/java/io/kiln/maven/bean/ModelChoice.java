// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.bean;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.flow.model.SharedModel;
import io.kiln.flow.resolve.ModelFiles;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.maven.artifact.ModelArtifacts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.maven.model.Dependency;

/**
 * The models of a build: those of {@code <models>}, or the single one that is named, lies in the project or is a dependency.
 *
 * @param sources the models, in the order given
 * @param shared the single model that is named or a dependency, with what came with it
 */
public record ModelChoice(List<ModelSource> sources, Optional<SharedModel> shared) {
    public ModelChoice {
        sources = List.copyOf(sources);
    }

    /**
     * The models in a version, with the signal processing before the single one.
     *
     * @param version empty if there is none
     * @param preprocess {@code kiln.preprocess}; empty for the file beside a model
     * @throws KilnException if there are several models, of which each has its own
     */
    public List<ModelSource> prepared(String version, Optional<Path> preprocess) {
        if (preprocess.isPresent() && sources.size() > 1) {
            throw Failure.CONFIG.exception(
                    "both kiln.preprocess and several models are given",
                    preprocess.get().toString(),
                    "<preprocess> inside a <model>",
                    "Remove kiln.preprocess");
        }
        return sources.stream().map(source -> source.in(version, preprocess)).toList();
    }

    /**
     * What parameters say about models; those that are not set are null.
     *
     * @param models {@code <models>}
     * @param model {@code kiln.model}
     * @param name {@code kiln.name}
     * @param inputs {@code kiln.inputShapes}, {@code kiln.inputValues} and {@code kiln.signature}; empty texts if they are not set
     */
    public record Named(List<Model> models, String model, String name, GivenInputs inputs) {
        /**
         * Finds the models.
         *
         * @param layout folders of the project
         * @param dependencies of the project
         */
        public ModelChoice find(ModelArtifacts artifacts, Layout layout, List<Dependency> dependencies) {
            boolean hasOwn = models != null || Files.isDirectory(layout.userModels());
            Optional<SharedModel> shared =
                    artifacts.find(Optional.ofNullable(model), layout.project(), hasOwn ? List.of() : dependencies);
            List<ModelSource> given = models == null
                    ? List.of()
                    : models.stream()
                            .map(each -> each.source(layout.project(), text -> artifacts.named(text, layout.project())))
                            .toList();
            GivenInputs all = inputs.or(shared.map(SharedModel::inputs).orElse(GivenInputs.NONE));
            Optional<ModelSource> single =
                    shared.map(each -> new ModelSource(each.file(), name, all, "", Optional.empty(), each.vectors()));
            List<ModelSource> chosen = ModelFiles.choose(given, single, name, all, layout.userModels()).stream()
                    .flatMap(each -> each.bySignature().stream())
                    .toList();
            return new ModelChoice(chosen, shared);
        }
    }
}
