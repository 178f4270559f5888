// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.incremental;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FingerprintTest {
    @TempDir
    Path folder;

    @Test
    void aFolderIsTakenFileByFile() throws IOException {
        Files.createDirectories(folder.resolve("sub"));
        Files.writeString(folder.resolve("sub/b.c"), "b");
        Files.writeString(folder.resolve("a.c"), "a");
        assertThat(Fingerprint.empty().folder("src", folder).parts()).containsOnlyKeys("src/a.c", "src/sub/b.c");
    }

    @Test
    void anAbsentFolderAddsNothingAndAnAbsentFileIsAbsent() {
        Fingerprint fingerprint =
                Fingerprint.empty().folder("src", folder.resolve("none")).file("model", folder.resolve("none.tflite"));
        assertThat(fingerprint.parts()).containsOnlyKeys("model").containsValue("absent");
    }

    @Test
    void aFileIsItsContentsDigest() throws IOException {
        Path file = Files.writeString(folder.resolve("x"), "abc");
        assertThat(Fingerprint.digest(file))
                .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    @Test
    void aSettingOfSeveralLinesStaysOneLine() {
        assertThat(Fingerprint.empty().setting("flags", "a\nb").parts().get("flags"))
                .matches("[0-9a-f]{64}");
    }
}
