// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.verify.VerificationCases.TestVectors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TestVectorsTest {
    @TempDir
    Path folder;

    @Test
    void theUsersVectorsTakeThePlaceOfThoseThatCameWithAModel() {
        Path users = folder.resolve("mine");
        ModelSource one = source("one");
        assertThat(vectors(users, false, one).folder("one")).contains(users);
        assertThat(vectors(users, false, one).given("one")).contains(users);
        assertThat(vectors(null, false, one).folder("one")).contains(folder.resolve("with-one"));
        assertThat(vectors(null, false, new ModelSource(folder, "one")).given("one"))
                .isEmpty();
    }

    @Test
    void eachOfSeveralModelsHasItsOwn() throws IOException {
        Path users = folder.resolve("mine");
        Path first = Files.createDirectories(users.resolve("one"));
        Path second = Files.createDirectories(folder.resolve("with-two"));
        TestVectors vectors = vectors(
                users, true, source("one"), source("two"), new ModelSource(folder.resolve("c.tflite"), "three"));
        assertThat(vectors.given("one")).contains(first);
        assertThat(vectors.given("two")).contains(second);
        assertThat(vectors.folder("three")).contains(users.resolve("three"));
        assertThat(vectors.given("three")).isEmpty();
    }

    /** An archive has several models, and the vectors that came with it lie in a folder for each. */
    @Test
    void oneFileMayHaveSeveralModels() throws IOException {
        Path first = Files.createDirectories(folder.resolve("with-one/a"));
        TestVectors vectors = vectors(null, true, source("one"));
        assertThat(vectors.given("a")).contains(first);
        assertThat(vectors.given("b")).isEmpty();
    }

    private ModelSource source(String name) {
        Optional<Path> vectors = Optional.of(folder.resolve("with-" + name));
        return new ModelSource(folder.resolve(name + ".tflite"), name, GivenInputs.NONE, "", Optional.empty(), vectors);
    }

    private static TestVectors vectors(Path users, boolean areSeveral, ModelSource... sources) {
        VerifySpec spec = new VerifySpec(VerifyOn.EMULATOR, Optional.ofNullable(users), 2, 0);
        return new TestVectors(spec, List.of(sources), areSeveral);
    }
}
