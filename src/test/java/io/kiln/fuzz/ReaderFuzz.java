// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.kiln.base.Bytes;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Jazzer's search for files that break a reader: a number of runs in every build, hours on demand until one is found.
 *
 * <pre>{@code
 * mvn test -Pfuzz -Dtest=TfliteFuzzTest -Dfuzz.time=2h
 * }</pre>
 *
 * Each reader has a class and so a Java process of its own, as Jazzer wants it. What a search learned stays in {@code .cifuzz-corpus}, so that
 * the next one goes on from there.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ReaderFuzz {
    private final Reader reader;

    @TempDir
    private Path folder;

    ReaderFuzz(Reader reader) {
        this.reader = reader;
    }

    Stream<byte[]> seeds() {
        return reader.seeds().stream().map(Bytes::toArray);
    }

    @MethodSource("seeds")
    @FuzzTest(maxDuration = "24h")
    void answers(byte[] file) {
        ReaderProperty.holds(reader, Bytes.wrap(file), folder);
    }
}
