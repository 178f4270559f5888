// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.bean;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.flow.model.SharedModel;
import io.kiln.flow.resolve.ModelFiles;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.maven.artifact.ReactorFolders.ModelArtifacts;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.maven.model.Dependency;

/** One {@code <model>} of {@code <models>}. */
public final class Model {
    /** The model file, relative to the project, or coordinates of a shared model. */
    private String file;

    /** Name in the generated C: {@code tvmgen_<name>_run}. */
    private String name;

    /** Shapes of its inputs, {@code name:1,96,96,1;…}; if not set, those of the file. */
    private String inputShapes;

    /** Values that make inputs constants, {@code name=16000;…}. */
    private String inputValues;

    /** Key of the signature of a TensorFlow Lite model that it is; if not set, the first subgraph. */
    private String signature;

    /** The signal processing before it; if not set, {@code <model>.preprocess.yaml} beside the file, if there is one. */
    private File preprocess;

    public void setPreprocess(File preprocess) {
        this.preprocess = preprocess;
    }

    public void setInputShapes(String inputShapes) {
        this.inputShapes = inputShapes;
    }

    public void setInputValues(String inputValues) {
        this.inputValues = inputValues;
    }

    public void setSignature(String signature) {
        this.signature = signature;
    }

    public void setFile(String file) {
        this.file = file;
    }

    public void setName(String name) {
        this.name = name;
    }

    /** The file, or coordinates; null if it is not set. */
    public String file() {
        return file;
    }

    /**
     * The model in the flow's form.
     *
     * @param folder that relative files are relative to
     * @param find finds what the file or the coordinates name
     */
    public ModelSource source(Path folder, Function<String, SharedModel> find) {
        if (file == null || name == null) {
            throw Failure.CONFIG.exception(
                    "a <model> lacks its " + (file == null ? "<file>" : "<name>"),
                    "<models>",
                    "both <file> and <name>",
                    "Add it");
        }
        SharedModel model = find.apply(file);
        return new ModelSource(
                model.file(),
                name,
                GivenInputs.of(inputShapes, inputValues, signature).or(model.inputs()),
                "",
                Optional.ofNullable(preprocess).map(description -> folder.resolve(description.toPath())),
                model.vectors());
    }

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
            return sources.stream()
                    .map(source -> source.in(version, preprocess))
                    .toList();
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
                                .map(each ->
                                        each.source(layout.project(), text -> artifacts.named(text, layout.project())))
                                .toList();
                GivenInputs all = inputs.or(shared.map(SharedModel::inputs).orElse(GivenInputs.NONE));
                Optional<ModelSource> single = shared.map(
                        each -> new ModelSource(each.file(), name, all, "", Optional.empty(), each.vectors()));
                List<ModelSource> chosen = ModelFiles.choose(given, single, name, all, layout.userModels()).stream()
                        .flatMap(each -> each.bySignature().stream())
                        .toList();
                return new ModelChoice(chosen, shared);
            }
        }
    }
}
