// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class FileFailureTest {
    @TempDir
    private Path folder;

    private static Stream<Arguments> failures() {
        String file = Path.of("/out/a.c").toString();
        return Stream.of(
                Arguments.of(new AccessDeniedException(file), "permission denied"),
                Arguments.of(new NoSuchFileException(file), "there is no such file or folder"),
                Arguments.of(new FileNotFoundException(file + " (No such file)"), "there is no such file or folder"),
                Arguments.of(
                        new FileSystemException(file, null, "No space left on device"), "no space left on the disk"),
                Arguments.of(new IOException("There is not enough space on the disk"), "no space left on the disk"),
                Arguments.of(
                        new FileSystemException(file, null, "Read-only file system"), "the file system is read-only"),
                Arguments.of(new FileSystemException(file, null, "Operation not permitted"), "permission denied"),
                Arguments.of(new FileSystemLoopException(file), "links lead in a circle"),
                Arguments.of(new UncheckedIOException(new AccessDeniedException(file)), "permission denied"),
                Arguments.of(new FileSystemException(file, null, "Too many open files"), "Too many open files"),
                Arguments.of(new IOException(), "IOException"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void everyFailureIsSaidInWords(Exception failure, String words) {
        assertThat(FileFailure.of("cannot write", Path.of("/out/a.c"), failure))
                .hasMessageStartingWith(Path.of("/out/a.c") + ": cannot write: " + words + ".")
                .hasCause(failure);
    }

    @Test
    void theFileThatTheSystemNamesIsTheOneThatIsNamed() {
        Path below = Path.of("/out/deep/b.c");
        assertThat(FileFailure.of("cannot list", Path.of("/out"), new AccessDeniedException(below.toString())))
                .hasMessageStartingWith(below + ": cannot list: permission denied.");
    }

    @Test
    void aFileThatIsInTheWayOfAFolderIsNamed() throws IOException {
        Path file = Files.writeString(folder.resolve("out"), "x");
        assertThatThrownBy(() -> WholeFiles.write(file.resolve("a/b.c"), "int a;"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("out")
                .hasMessageContaining("a file is where a folder is needed");
        assertThat(file).hasContent("x");
    }
}
