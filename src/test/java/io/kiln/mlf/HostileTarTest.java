// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.kiln.base.KilnException;
import io.kiln.mlf.ModelLibraryFormat.TarMembers;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tars that would take more memory than there is, or hold names that some system cannot hold beside each other. */
class HostileTarTest {
    private static final long MIB = 1 << 20;
    private static final ThreadMXBean THREAD = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @TempDir
    private Path folder;

    private Path tar;

    @BeforeEach
    void names() {
        tar = folder.resolve("net.tar");
    }

    @Test
    void aLargeArchiveIsRefusedWhereJavaHasLittleMemory() throws IOException {
        write(new TarArchiveEntry("small"), 10);
        assertThat(TarMembers.read(tar, 256 * MIB)).containsOnlyKeys("small");
        write(new TarArchiveEntry("codegen/host/src/default_lib1.c"), 200 * MIB);
        long before = THREAD.getCurrentThreadAllocatedBytes();
        refused(256 * MIB)
                .hasMessageContaining("net.tar: codegen/host/src/default_lib1.c: is too large")
                .hasMessageContaining("more than 44739242 bytes, a share of 1/6 of Java's memory of 268435456 bytes")
                .hasMessageContaining("MAVEN_OPTS=-Xmx2g");
        assertThat(THREAD.getCurrentThreadAllocatedBytes() - before).isLessThan(MIB);
        assertThat(TarMembers.read(tar, 2048 * MIB).firstKey()).isEqualTo("codegen/host/src/default_lib1.c");
    }

    @Test
    void aMemberThatIsLargerThanTheTarTakesNoMemory() throws IOException {
        write(new TarArchiveEntry("a"), 200 * MIB);
        truncate(2048);
        long before = THREAD.getCurrentThreadAllocatedBytes();
        refused(4096 * MIB).hasMessageContaining("net.tar: a: is cut off; expected 209715200 bytes");
        assertThat(THREAD.getCurrentThreadAllocatedBytes() - before).isLessThan(MIB);
    }

    /** Long names and links of GNU, pax headers of a member and of all members. */
    @ParameterizedTest
    @ValueSource(
            bytes = {
                TarConstants.LF_GNUTYPE_LONGNAME,
                TarConstants.LF_GNUTYPE_LONGLINK,
                TarConstants.LF_PAX_EXTENDED_HEADER_LC,
                TarConstants.LF_PAX_GLOBAL_EXTENDED_HEADER
            })
    void headersThatClaimToBeLongTakeNoMemory(byte kind) throws IOException {
        write(new TarArchiveEntry("long", kind), 100 * MIB);
        long before = THREAD.getCurrentThreadAllocatedBytes();
        refused(4096 * MIB).hasMessageContaining("net.tar: cannot be read as a tar");
        assertThat(THREAD.getCurrentThreadAllocatedBytes() - before).isLessThan(8 * MIB);
    }

    @ParameterizedTest
    @CsvSource({
        "a, a/b, is a file and a folder",
        "a/b, a, is a file and a folder",
        "a/, a, is a file and a folder",
        "a.h, A.h, differs from a.h only in case",
        "x/a.h, X/b.h, differs from x only in case",
        "x/, X/b.h, differs from x only in case",
        "../x/, a, lies outside the archive",
        "/x/, a, lies outside the archive"
    })
    void namesThatSomeSystemCannotHoldAreRefused(String first, String second, String message) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (TarArchiveOutputStream out = new TarArchiveOutputStream(bytes, StandardCharsets.UTF_8.name())) {
            for (String name : new String[] {first, second}) {
                out.putArchiveEntry(new TarArchiveEntry(name, true));
                out.closeArchiveEntry();
            }
        }
        Files.write(tar, bytes.toByteArray());
        refused(4096 * MIB).hasMessageContaining(message);
    }

    @Test
    void theFolderOfAllMembersIsNoName() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (TarArchiveOutputStream out = new TarArchiveOutputStream(bytes, StandardCharsets.UTF_8.name())) {
            for (String name : new String[] {"./", "./a/", "./a/b"}) {
                out.putArchiveEntry(new TarArchiveEntry(name));
                out.closeArchiveEntry();
            }
        }
        Files.write(tar, bytes.toByteArray());
        assertThat(TarMembers.read(tar, 4096 * MIB)).containsOnlyKeys("a/b");
    }

    private AbstractThrowableAssert<?, ?> refused(long heap) {
        return assertThatThrownBy(() -> TarMembers.read(tar, heap)).isInstanceOf(KilnException.class);
    }

    /** A member of zeros, which take no room on the disk, and the end of the tar. */
    private void write(TarArchiveEntry entry, long size) throws IOException {
        entry.setSize(size);
        byte[] header = new byte[512];
        entry.writeEntryHeader(header);
        System.arraycopy("ustar\00000".getBytes(StandardCharsets.ISO_8859_1), 0, header, 257, 8);
        Files.write(tar, header);
        truncate(512 + (size + 511) / 512 * 512 + 1024);
    }

    private void truncate(long size) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(tar.toFile(), "rw")) {
            file.setLength(size);
        }
    }
}
