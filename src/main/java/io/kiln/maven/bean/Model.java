// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.bean;

import io.kiln.base.Failure;
import io.kiln.flow.model.SharedModel;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import java.io.File;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

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
}
