// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Where the test vectors of a build's models lie.
 *
 * @param spec what the user names, and how many cases there are beside the vectors
 * @param sources the models; an archive may have several in one file
 * @param areSeveral whether there are several models, so that the user's vectors lie in a folder for each
 */
public record TestVectors(VerifySpec spec, List<ModelSource> sources, boolean areSeveral) {
    public TestVectors {
        sources = List.copyOf(sources);
    }

    /** The test vectors of a build's models. */
    public static TestVectors of(BuildSpec build, boolean areSeveral) {
        return new TestVectors(build.verify(), build.models(), areSeveral);
    }

    /**
     * Compares the sizes of a build's vectors with its models' tensors, so that a wrong one is told before the image is compiled.
     *
     * @param models the generated models
     * @throws io.kiln.base.KilnException naming every file whose size is not that of the tensors
     */
    public static void check(BuildSpec build, List<ModelMetadata> models) {
        Problems problems = new Problems(Failure.VERIFY);
        if (build.verify().on() != VerifyOn.NONE) {
            TestVectors vectors = of(build, models.size() > 1);
            models.forEach(model -> vectors.given(model.name())
                    .filter(Files::isDirectory)
                    .ifPresent(folder -> TestCases.checkSizes(folder, model.inputs(), model.outputs(), problems)));
        }
        problems.throwIfAny();
    }

    /** The folder of a model: the user's, or else that which came with the model. Of several models it may not exist. */
    Optional<Path> folder(String model) {
        Optional<Path> named = spec.vectors().map(folder -> of(folder, model));
        return named.filter(folder -> !areSeveral || Files.isDirectory(folder))
                .or(() -> brought(model))
                .or(() -> named);
    }

    private Optional<Path> brought(String model) {
        if (sources.size() == 1) {
            return sources.get(0).vectors().map(folder -> of(folder, model));
        }
        return sources.stream()
                .filter(source -> source.name().equals(model))
                .findFirst()
                .flatMap(ModelSource::vectors);
    }

    private Path of(Path folder, String model) {
        return areSeveral ? folder.resolve(model) : folder;
    }

    /** The folder of a model's test vectors; empty if one of several models has none: it has random cases only. */
    Optional<Path> given(String model) {
        return folder(model).filter(folder -> !areSeveral || Files.isDirectory(folder));
    }
}
