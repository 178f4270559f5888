// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Archives that are made to do harm are refused with a message, and soon. */
final class HostileArchiveTest {
    private static final String METADATA = "metadata.json";

    @TempDir
    private Path folder;

    @Test
    @Timeout(20)
    void hostileJsonIsRefusedQuickly() {
        refused(TvmArchive.of("v6").with(METADATA, " ".repeat(5 << 20)))
                .hasMessageContaining("metadata.json: has 5242880 bytes; expected at most 4194304 bytes");
        refused(TvmArchive.of("v6").with(METADATA, "[".repeat(100_000)))
                .hasMessageContaining("metadata.json: this is not JSON: Document nesting depth");
        refused(TvmArchive.of("v6").with(METADATA, "{\"version\": 6, \"version\": 7}"))
                .hasMessageContaining("Duplicate field 'version'");
        refused(TvmArchive.of("v6").replacing(METADATA, "\"version\": 6\n}", "\"version\": 6\n} {}"))
                .hasMessageContaining("this is not JSON");
        refused(TvmArchive.of("v6").with(METADATA, "{\"version\": 6, \"model_name\": \"" + "a".repeat(1 << 20) + "\"}"))
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(1000));
        refused(TvmArchive.of("v6").with("src/relay.txt", "def @main(" + "%a: Tensor[(9".repeat(300_000)))
                .hasMessageContaining("inputs.serving_default_x_0` is missing");
    }

    @Test
    @Timeout(20)
    void hostileTarsAreRefusedQuickly() throws IOException {
        refused(tar(entry("/etc/passwd", "x"))).hasMessageContaining("net.tar: /etc/passwd: lies outside");
        refused(tar(entry("./a/../../b", "x"))).hasMessageContaining("lies outside");
        refused(tar(entry("./a\nb", "x"))).hasMessageContaining("net.tar: ./a?b: lies outside");
        refused(tar(entry("a", "x"), entry("./a", "y"))).hasMessageContaining("./a: exists twice");
        refused(tar(entry("a", "x"), entry("a/b", "y"))).hasMessageContaining("net.tar: a: is a file and a folder");
        refused(tar(entry("a".repeat(300), "x")))
                .hasMessageContaining("lies outside the archive or has no proper name");
        refused(tar(new TarArchiveEntry("a", TarConstants.LF_SYMLINK))).hasMessageContaining("neither a plain file");
        byte[] claims = tar(entry("a", "x"));
        claims[124] = (byte) 0x80;
        System.arraycopy(new byte[] {0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0}, 0, claims, 125, 11);
        refused(checked(claims)).hasMessageContaining("net.tar: a: is too large");
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(zipped)) {
            gzip.write(tar(entry("a", "x")));
        }
        refused(zipped.toByteArray())
                .hasMessageContaining("net.tar: is compressed with gzip; expected a tar without compression");
    }

    @Test
    void namesThatMakefilesCannotHoldAreRefused() {
        refused(TvmArchive.of("v6").with("codegen/host/src/$(shell id).c", "int x;"))
                .hasMessageContaining("$(shell id).c: the file has a name that makefiles cannot handle");
        refused(TvmArchive.of("v6").with("codegen/host/include/a b.h", "int x;"))
                .hasMessageContaining("a b.h: the file");
    }

    private AbstractThrowableAssert<?, ? extends Throwable> refused(TvmArchive archive) {
        return assertThatThrownBy(() -> ModelLibraryFormat.read(archive.save(folder.resolve("net.tar"))))
                .isInstanceOf(KilnException.class);
    }

    private AbstractThrowableAssert<?, ? extends Throwable> refused(byte[] tar) throws IOException {
        Path file = Files.write(folder.resolve("net.tar"), tar);
        return assertThatThrownBy(() -> ModelLibraryFormat.read(file)).isInstanceOf(KilnException.class);
    }

    private record Member(TarArchiveEntry entry, Bytes content) {}

    private static Member entry(String name, String text) {
        TarArchiveEntry entry = new TarArchiveEntry(name, true);
        entry.setSize(text.length());
        return new Member(entry, Bytes.ofText(text));
    }

    private static byte[] tar(TarArchiveEntry entry) throws IOException {
        return tar(new Member(entry, Bytes.ofText("")));
    }

    private static byte[] tar(Member... members) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(out, StandardCharsets.UTF_8.name())) {
            tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_GNU);
            for (Member member : members) {
                tar.putArchiveEntry(member.entry());
                tar.write(member.content().toArray());
                tar.closeArchiveEntry();
            }
        }
        return out.toByteArray();
    }

    /** Makes the first header's checksum right again. */
    private static byte[] checked(byte[] tar) {
        int sum = 0;
        for (int i = 0; i < 512; i++) {
            sum += i >= 148 && i < 156 ? ' ' : Byte.toUnsignedInt(tar[i]);
        }
        byte[] text = String.format(Locale.ROOT, "%06o", sum).getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(text, 0, tar, 148, 6);
        tar[154] = 0;
        tar[155] = ' ';
        return tar;
    }
}
