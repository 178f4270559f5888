// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.FolderLock;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.report.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files where names have backslashes and no case, and files no modes, as on Windows. What is written is the same. */
final class WindowsFilesTest {
    private static final Path MODEL = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");

    @TempDir
    private Path here;

    private final FileSystem windows = Jimfs.newFileSystem(Configuration.windows());
    private final Path folder = windows.getPath("C:\\work\\Ein Projekt");

    @AfterEach
    void close() throws IOException {
        windows.close();
    }

    @Test
    void aModelIsCompiledAndItsArchiveReadAgain() throws IOException {
        Path model = folder.resolve("gesture.tflite");
        Files.createDirectories(folder);
        Files.copy(MODEL, model);
        Bytes archive = archive(model);
        assertThat(archive).isEqualTo(archive(MODEL));
        Path file = folder.resolve("out\\gesture-mlf.tar");
        WholeFiles.write(file, archive.toArray());
        assertThat(ModelLibraryFormat.files(file).keySet()).contains("codegen/host/src/default_lib1.c");
        assertThat(ModelLibraryFormat.read(file)).hasSize(1);
    }

    private static Bytes archive(Path model) {
        ModelLibrary library = ModelCompiler.compile(
                        RequestDraft.of(model, "c -keys=cpu").build())
                .library();
        return ModelLibraryFormat.write(List.of(library), ModelLibraryFormat.Options.of(7, Optional.empty(), "1"));
    }

    @Test
    void aFirmwareProjectHasTheSameFiles() throws IOException {
        assertThat(project(folder)).hasSizeGreaterThan(20).isEqualTo(project(here));
    }

    /** All files of a firmware project by their names, without the folder that it lies in. */
    private static Map<String, String> project(Path root) throws IOException {
        Path own = root.resolve("src/main/c/start.c");
        Files.createDirectories(own.getParent());
        Files.writeString(own, "int main(void) { return 0; }\n");
        FirmwareProject project = FirmwareAssembler.assemble(
                TestFirmware.request(
                        TestFirmware.board("host"),
                        "host",
                        Optimize.SPEED,
                        List.of(TestFirmware.model("default", 10)),
                        root),
                Log.QUIET);
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(project.directory())) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
                files.put(
                        project.directory().relativize(file).toString().replace('\\', '/'),
                        text.replace("\\\\", "/").replace(root.toString().replace('\\', '/'), "ROOT"));
            }
        }
        return files;
    }

    @Test
    void recordsAreWrittenWholeAndReadAgain() {
        Path file = folder.resolve("kiln\\a.json");
        Json.write(file, new Said("what", 3));
        Json.write(folder.resolve("KILN\\A.json"), new Said("what", 4));
        assertThat(Json.read(file, Said.class)).isEqualTo(new Said("what", 4));
        WholeFiles.write(file, "{");
        assertThatThrownBy(() -> Json.read(file, Said.class))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("C:\\work\\Ein Projekt\\kiln\\a.json");
    }

    /** A record of its own. */
    record Said(String what, int number) {}

    @Test
    void aFolderIsLocked() throws IOException {
        Files.createDirectories(folder);
        try (FolderLock lock = FolderLock.acquire(folder, "the test")) {
            assertThat(lock).isNotNull();
            try (Stream<Path> files = Files.list(folder)) {
                assertThat(files.toList()).isNotEmpty();
            }
        }
    }
}
