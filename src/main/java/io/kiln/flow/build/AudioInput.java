// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Log;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.preprocess.ModelPreprocessing;
import io.kiln.preprocess.Preprocessing;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The signal processing before a model of the build. */
public final class AudioInput {
    private AudioInput() {}

    /**
     * The signal processing of a model; empty if it has none.
     *
     * @throws io.kiln.base.KilnException with every mistake in its file, and everything in which the model's input does not fit
     */
    public static Optional<ModelPreprocessing> of(ModelSource source, ModelMetadata model) {
        return source.preprocessing().map(file -> Preprocessing.read(file).of(model));
    }

    /** The library with the C of what is before the model. */
    static ModelLibrary before(ModelSource source, ModelLibrary library, Log log) {
        return of(source, library.metadata())
                .map(preprocessing -> {
                    log.info(preprocessing.summary());
                    List<Artifact> all = new ArrayList<>(library.artifacts().artifacts());
                    all.addAll(preprocessing.code());
                    return new ModelLibrary(
                            library.metadata(), library.artifacts().with(all), library.origin());
                })
                .orElse(library);
    }
}
