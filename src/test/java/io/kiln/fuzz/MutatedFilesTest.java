// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A fixed number of spoiled files for each reader, {@code -Dkiln.mutations=1000000} for more; {@link ReaderFuzz} searches. Files that other
 * tools are asked about, or that lie in folders, take longer: of these there are fewer.
 */
class MutatedFilesTest {
    private static final int MUTATIONS = Integer.getInteger("kiln.mutations", 600);
    private static final int FEWER = Math.max(600, MUTATIONS / 50);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    void seedsAreRead(Reader reader) {
        for (Bytes seed : reader.seeds()) {
            assertThat(ReaderProperty.holds(reader, seed, folder)).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(
            names = {"ARTIFACTS", "MODULES"},
            mode = EnumSource.Mode.EXCLUDE)
    void spoiledFilesGiveAnAnswerOrAMessage(Reader reader) {
        mutate(reader, FEWER);
    }

    @ParameterizedTest
    @EnumSource(names = {"ARTIFACTS", "MODULES"})
    void spoiledBlobsGiveAnAnswerOrAMessage(Reader reader) {
        mutate(reader, MUTATIONS);
    }

    private void mutate(Reader reader, int mutations) {
        List<Bytes> seeds = reader.seeds();
        for (int i = 0; i < mutations; i++) {
            ReaderProperty.holds(reader, new Mutations(i, seeds).next(), folder);
        }
    }
}
