// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.kiln.base.CrowdedZip;
import io.kiln.base.KilnException;
import io.kiln.fuzz.ReaderProperty;
import io.kiln.toolchain.board.BoardFiles.BoardArchive;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipArchiveOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Zips that no tool for boards writes: each is refused by a message that says what is wrong with which entry. */
class HostileZipTest {
    private static final byte[] CONTENT = "schema: 1\nid: a\nextends: mps2-an386\n".getBytes(StandardCharsets.UTF_8);

    /** Signature of an entry of the central directory, and where such an entry has the flags and the method. */
    private static final int CENTRAL = 0x02014b50;

    private static final int FLAGS = 8;
    private static final int CRC = 16;

    @TempDir
    private Path folder;

    /** Implode, bzip2, LZMA, zstd by its old and its new number, xz, AE-x, and numbers that nobody uses. */
    @ParameterizedTest
    @ValueSource(ints = {1, 6, 9, 12, 14, 20, 93, 95, 98, 99, 1234, 65535})
    void otherMethodsOfCompressionAreRefused(int method) throws IOException {
        assertThat(refusal(raw(method)))
                .contains("the entry is compressed by method " + method)
                .contains("entry a/board.yaml");
    }

    /** Each entry would take kilobytes before the first one is looked at. */
    @Test
    void aDirectoryOfManyEntriesIsNotRead() throws IOException {
        Path zip = write(CrowdedZip.of(50_000, "a/x"));
        assertThat(ReaderProperty.holds(() -> Boards.builtIn().with(zip, "com.acme:boards:1", Set.of())))
                .isFalse();
        assertThat(refusal(Files.readAllBytes(zip)))
                .contains("the archive has too many entries")
                .contains("at most 2000");
    }

    @Test
    void encryptedEntriesAreRefused() throws IOException {
        byte[] zip = zip("a/board.yaml");
        int entry = central(zip);
        zip[entry + FLAGS] |= 1;
        assertThat(refusal(zip)).contains("the entry is encrypted").contains("entry a/board.yaml");
    }

    @Test
    void contentThatIsNotTheOneStatedIsRefused() throws IOException {
        byte[] zip = zip("a/board.yaml");
        zip[central(zip) + CRC] ^= 1;
        assertThat(refusal(zip)).contains("the entry is damaged").contains("entry a/board.yaml");
    }

    @ParameterizedTest
    @CsvSource({
        "a/b, a/b/c, the entry is a file and a folder",
        "a/b/c, a/b, the entry is a file and a folder",
        "a/b/, a/b, the entry is a file and a folder",
        "a/main.c, a/Main.c, differs from a/main.c only in case",
        "a/x/main.c, a/X/other.c, differs from a/x only in case",
        "a/x/, a/X/other.c, differs from a/x only in case",
        "a/../, a/b, the name is not that of a file",
        "/etc/, a/b, the name is not that of a file",
        "/a/b, a/b, the name is not that of a file",
        "a/main.c., a/b, the name is not that of a file"
    })
    void namesThatSomeSystemCannotHoldAreRefused(String first, String second, String message) throws IOException {
        assertThat(refusal(zip("a/board.yaml", first, second))).contains(message);
    }

    @Test
    void aNameWithAnEndOfTextIsRefused() throws IOException {
        assertThat(refusal(zip("a/board.yaml", "a/b\0.c")))
                .contains("the name is not that of a file")
                .contains("a/b?.c");
    }

    @Test
    void theSameNameTwiceIsRefused() throws IOException {
        byte[] zip = zip("a/board.yaml", "a/board.yamm");
        byte[] twice = new String(zip, StandardCharsets.ISO_8859_1)
                .replace("board.yamm", "board.yaml")
                .getBytes(StandardCharsets.ISO_8859_1);
        assertThat(refusal(twice)).contains("exists twice").contains("entry a/board.yaml");
    }

    /** Streams of zips state sizes behind the content; they are as good as others. */
    @Test
    void dataDescriptorsAreRead() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream out = new ZipOutputStream(bytes)) {
            out.putNextEntry(new ZipEntry("a/board.yaml"));
            out.write(CONTENT);
            out.closeEntry();
        }
        Path zip = Files.write(folder.resolve("boards.zip"), bytes.toByteArray());
        assertThat(BoardArchive.read(zip)).containsOnlyKeys("a/board.yaml");
    }

    @Test
    void everyCutAndEveryWrongByteOfTheDirectoryIsAnsweredByAMessage() throws IOException {
        byte[] zip = zip("a/board.yaml", "a/startup.c");
        for (int length = 0; length < zip.length; length++) {
            assertThat(refusal(Arrays.copyOf(zip, length))).isNotBlank();
        }
        for (int at = central(zip); at < zip.length; at++) {
            for (int value : List.of(0, 1, 0x7f, 0x80, 0xff)) {
                byte[] wrong = zip.clone();
                wrong[at] = (byte) value;
                Throwable thrown = catchThrowable(() -> BoardArchive.read(write(wrong)));
                if (thrown != null) {
                    assertThat(thrown).as("byte %d as %d", at, value).isInstanceOf(KilnException.class);
                }
            }
        }
    }

    private String refusal(byte[] zip) throws IOException {
        Path file = write(zip);
        Throwable thrown = catchThrowable(() -> Boards.builtIn().with(file, "com.acme:boards:1", Set.of()));
        assertThat(thrown).isInstanceOf(KilnException.class);
        return thrown.getMessage();
    }

    private Path write(byte[] zip) throws IOException {
        return Files.write(folder.resolve("boards.zip"), zip);
    }

    /** Stored entries; names that end in a slash are folders. */
    private static byte[] zip(String... names) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipArchiveOutputStream out = new ZipArchiveOutputStream(bytes)) {
            for (String name : names) {
                out.addRawArchiveEntry(
                        entry(name, ZipEntry.STORED, name.endsWith("/") ? new byte[0] : CONTENT),
                        new ByteArrayInputStream(name.endsWith("/") ? new byte[0] : CONTENT));
            }
        }
        return bytes.toByteArray();
    }

    private static byte[] raw(int method) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipArchiveOutputStream out = new ZipArchiveOutputStream(bytes)) {
            out.addRawArchiveEntry(entry("a/board.yaml", method, CONTENT), new ByteArrayInputStream(CONTENT));
        }
        return bytes.toByteArray();
    }

    private static ZipArchiveEntry entry(String name, int method, byte[] content) {
        ZipArchiveEntry entry = new ZipArchiveEntry(name);
        CRC32 crc = new CRC32();
        crc.update(content);
        entry.setMethod(method);
        entry.setSize(content.length);
        entry.setCompressedSize(content.length);
        entry.setCrc(crc.getValue());
        return entry;
    }

    private static int central(byte[] zip) {
        ByteBuffer in = ByteBuffer.wrap(zip).order(ByteOrder.LITTLE_ENDIAN);
        int at = 0;
        while (in.getInt(at) != CENTRAL) {
            at++;
        }
        return at;
    }
}
