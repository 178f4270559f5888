// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Failure;
import io.kiln.flow.verify.TestCases.TestCase;
import io.kiln.preprocess.media.MediaFolder;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The cases in the folder of a model's vectors: tensors, or the pictures and recordings that {@code samples.yaml} describes. Recordings that the
 * image itself turns into features are {@link AudioCases}.
 */
final class GivenCases {
    private GivenCases() {}

    /**
     * Reads a folder.
     *
     * @throws io.kiln.base.KilnException naming every file that does not fit the model's inputs and outputs
     */
    static List<TestCase> of(Path folder, ModelMetadata model) {
        MediaFolder media = new MediaFolder(folder, Optional.empty());
        if (!media.isDescribed()) {
            return TestCases.vectors(folder, model.inputs(), model.outputs());
        }
        List<TestCase> cases = media.read(model.inputs()).stream()
                .map(sample -> new TestCase(sample.name(), List.of(sample.input()), Optional.empty()))
                .toList();
        if (cases.isEmpty() || TestCases.areIn(folder)) {
            throw Failure.SAMPLES.exception(
                    "the folder has " + MediaFolder.FORMS + ", and "
                            + (cases.isEmpty() ? "no pictures or recordings" : "input_<k>.bin, too"),
                    folder.toString(),
                    "either kind of cases",
                    "Delete what is not wanted");
        }
        return cases;
    }
}
