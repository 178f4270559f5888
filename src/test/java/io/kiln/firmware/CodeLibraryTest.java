// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.PlainZip.StoredZip;
import io.kiln.firmware.CodeLibrary.UserSources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CodeLibraryTest {
    @TempDir
    Path folder;

    @Test
    void aLibraryIsTheSameFromItsModuleAndFromItsArtifact() throws IOException {
        write("src/main/c/filter.c", "#include <filter.h>\n");
        write("src/main/include/filter.h", "int filter(int x);\n");
        write("src/main/lib/cortex-m4/libfast.a", "!<arch>\n");
        write("src/main/lib/rv32imac/libfast.a", "!<arch>\n ");
        Path zip = folder.resolve("one.zip");
        CodeLibrary.pack(folder.resolve("src/main"), zip);
        Path again = folder.resolve("two.zip");
        CodeLibrary.pack(folder.resolve("src/main"), again);
        assertThat(Files.mismatch(zip, again)).isNegative();

        List<String> wanted = List.of(
                "libraries/filter/c/filter.c",
                "libraries/filter/include/filter.h",
                "libraries/filter/lib/cortex-m4/libfast.a");
        for (Path place : List.of(zip, folder.resolve("src/main"))) {
            UserCode code = new CodeLibrary("filter", place).addTo(UserCode.NONE, "cortex-m4", folder.resolve("out"));
            assertThat(UserSources.read(code).keySet()).containsExactlyElementsOf(wanted);
            assertThat(code.folders())
                    .extracting(CodeFolder::origin)
                    .containsExactly("filter/c", "filter/include", "filter/lib/cortex-m4");
        }
    }

    @Test
    void aLibraryWithoutTheCoreOrWithoutCodeIsRefused() throws IOException {
        write("src/main/lib/cortex-m4/libfast.a", "!<arch>\n");
        assertThatThrownBy(() -> new CodeLibrary("fast", folder.resolve("src/main"))
                        .addTo(UserCode.NONE, "cortex-m7", folder.resolve("out")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the library fast has nothing for the core cortex-m7");
        assertThatThrownBy(() -> CodeLibrary.pack(folder.resolve("empty"), folder.resolve("empty.zip")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the library has no code");
        write("src/main/c/main.rs", "fn main() {}\n");
        assertThatThrownBy(() -> CodeLibrary.pack(folder.resolve("src/main"), folder.resolve("rust.zip")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("main.rs: this file is not compiled");
        assertThat(folder.resolve("rust.zip")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"../c/a.c", "/c/a.c", "c/../../a.c", "c/./a.c", "c\\a.c", "pom.xml", "c", "c/a:b.c", "C/a.c"})
    void entriesThatLeadElsewhereAreRefused(String name) throws IOException {
        TreeMap<String, Bytes> files = new TreeMap<>();
        files.put(name, Bytes.ofText("int a;\n"));
        Path zip = folder.resolve("evil.zip");
        Files.write(zip, StoredZip.of(files));
        assertThatThrownBy(() -> new CodeLibrary("evil", zip).addTo(UserCode.NONE, "cortex-m4", folder.resolve("out")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("does not belong into a library");
        assertThat(folder.resolve("out")).doesNotExist();
    }

    /** Its content would be unpacked, however long it is, only to get at the next entry. */
    @Test
    void aFolderWithContentIsRefused() throws IOException {
        TreeMap<String, Bytes> files = new TreeMap<>();
        files.put("c/a.c", Bytes.ofText("int a;\n"));
        files.put("c/folder/", Bytes.ofText("1"));
        Path zip = folder.resolve("full.zip");
        Files.write(zip, StoredZip.of(files));
        assertThatThrownBy(() -> new CodeLibrary("full", zip).addTo(UserCode.NONE, "cortex-m4", folder.resolve("out")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the folder c/folder/ has content");
    }

    @Test
    void whatIsNoZipIsRefused() throws IOException {
        Path zip = folder.resolve("noise.zip");
        Files.writeString(zip, "PK, more or less");
        assertThatThrownBy(() -> new CodeLibrary("noise", zip).addTo(UserCode.NONE, "cortex-m4", folder.resolve("out")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("noise.zip");
    }

    private void write(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
