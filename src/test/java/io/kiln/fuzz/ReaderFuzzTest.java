// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.kiln.base.Bytes;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Jazzer's search for files that break a reader, one reader at a time, until one is found or the time is over:
 *
 * <pre>{@code
 * mvn test -Pfuzz -Dtest=ReaderFuzzTest#tflite -Dfuzz.time=2h
 * }</pre>
 *
 * What it learned stays in {@code .cifuzz-corpus}, so that the next search goes on from there. Without the profile these tests do not run:
 * Jazzer would instrument all classes. {@link MutatedFilesTest} always runs.
 */
class ReaderFuzzTest {
    @TempDir
    private Path folder;

    static Stream<byte[]> tfliteSeeds() {
        return seeds(Reader.TFLITE);
    }

    @MethodSource("tfliteSeeds")
    @FuzzTest(maxDuration = "24h")
    void tflite(byte[] file) {
        check(Reader.TFLITE, file);
    }

    static Stream<byte[]> relaySeeds() {
        return seeds(Reader.RELAY);
    }

    @MethodSource("relaySeeds")
    @FuzzTest(maxDuration = "24h")
    void relay(byte[] file) {
        check(Reader.RELAY, file);
    }

    static Stream<byte[]> paramsSeeds() {
        return seeds(Reader.PARAMS);
    }

    @MethodSource("paramsSeeds")
    @FuzzTest(maxDuration = "24h")
    void params(byte[] file) {
        check(Reader.PARAMS, file);
    }

    static Stream<byte[]> archiveSeeds() {
        return seeds(Reader.ARCHIVE);
    }

    @MethodSource("archiveSeeds")
    @FuzzTest(maxDuration = "24h")
    void archive(byte[] file) {
        check(Reader.ARCHIVE, file);
    }

    static Stream<byte[]> metadataSeeds() {
        return seeds(Reader.METADATA);
    }

    @MethodSource("metadataSeeds")
    @FuzzTest(maxDuration = "24h")
    void metadata(byte[] file) {
        check(Reader.METADATA, file);
    }

    static Stream<byte[]> boardSeeds() {
        return seeds(Reader.BOARD);
    }

    @MethodSource("boardSeeds")
    @FuzzTest(maxDuration = "24h")
    void board(byte[] file) {
        check(Reader.BOARD, file);
    }

    private static Stream<byte[]> seeds(Reader reader) {
        return reader.seeds().stream().map(Bytes::toArray);
    }

    private void check(Reader reader, byte[] file) {
        ReaderProperty.holds(reader, Bytes.wrap(file), folder);
    }
}
