// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Models that are changed in what they say: each is refused with a message, or the reference interpreter and the C on this machine, under
 * sanitizers, agree on its answers. {@code -Dkiln.models=5000} takes more, {@code -Dkiln.seed=17} begins with another; a model that
 * fails is kept in {@code target/fuzz}.
 */
class MutatedModelsTest {
    private static final int MODELS = Integer.getInteger("kiln.models", 60);
    private static final long FIRST = Long.getLong("kiln.seed", 0);
    private static final int BATCH = 50;
    private static final Path KEPT = Path.of("target", "fuzz");

    @TempDir
    private Path folder;

    private final List<Bytes> seeds = Reader.TFLITE.seeds();
    private final List<String> failures = new ArrayList<>();
    private int refused;
    private int large;
    private int ran;

    @Test
    void areRefusedOrComputedAlike() {
        List<MutatedModel> accepted = new ArrayList<>();
        for (long seed = FIRST; seed < FIRST + MODELS; seed++) {
            accept(seed).ifPresent(accepted::add);
            if (accepted.size() == BATCH || (seed == FIRST + MODELS - 1 && !accepted.isEmpty())) {
                failures.addAll(new ModelBatch(folder.resolve("to" + seed)).check(accepted));
                ran += accepted.size();
                accepted.clear();
            }
        }
        System.out.printf(
                Locale.ROOT, "%d models: %d refused, %d too large to run, %d run%n", MODELS, refused, large, ran);
        failures.forEach(this::keep);
        assertThat(failures).isEmpty();
        assertThat(ran).isPositive();
    }

    private Optional<MutatedModel> accept(long seed) {
        try {
            Optional<MutatedModel> model = MutatedModel.of(seed, ModelMutations.next(seed, seeds));
            large += model.isEmpty() ? 1 : 0;
            return model;
        } catch (KilnException e) {
            assertThat(e.problems())
                    .isNotEmpty()
                    .allSatisfy(p -> assertThat(p.what()).isNotBlank());
            refused++;
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            failures.add(seed + ": " + e + " at " + e.getStackTrace()[0]);
        }
        return Optional.empty();
    }

    private void keep(String failure) {
        long seed = Long.parseLong(failure.substring(0, failure.indexOf(':')));
        WholeFiles.write(
                KEPT.resolve("model-" + seed + ".tflite"),
                ModelMutations.next(seed, seeds).toArray());
    }
}
