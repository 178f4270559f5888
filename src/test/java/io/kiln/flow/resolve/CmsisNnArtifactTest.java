// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.CrowdedZip;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.flow.resolve.CmsisNnArtifact.CmsisNnArchive;
import io.kiln.fuzz.ReaderProperty;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CmsisNnArtifactTest {
    private static final Path STAND_IN = Path.of("src", "test", "c", "cmsis-nn");
    private static final String HEADER = "Include/arm_nnfunctions.h";

    @TempDir
    Path folder;

    private final List<String> fetched = new ArrayList<>();
    private Path archive;
    private ToolchainEnvironment environment;

    @BeforeEach
    void setUp() {
        archive = folder.resolve("archive");
        environment = new ToolchainEnvironment(folder.resolve("home"), List.of(), this::fetch, Log.QUIET);
    }

    private Path fetch(String group, String artifact, String version, String classifier, String extension) {
        fetched.add(String.join(":", group, artifact, version, classifier, extension));
        return archive;
    }

    @Test
    void whatIsNotCoordinatesIsAFolder() {
        assertThat(CmsisNnArtifact.folder("lib/CMSIS-NN", folder, environment))
                .isEqualTo(folder.resolve("lib/CMSIS-NN"));
        assertThat(CmsisNnArtifact.folder("/opt/CMSIS-NN", folder, environment)).isEqualTo(Path.of("/opt/CMSIS-NN"));
        assertThat(CmsisNnArtifact.folder("group:artifact", folder, environment))
                .isEqualTo(folder.resolve("group:artifact"));
        assertThat(fetched).isEmpty();
    }

    /** Not those of a temporary folder, which is its owner's alone. */
    @Test
    void whatIsUnpackedHasThePermissionsOfNewFolders() throws IOException {
        SourceArchives.zip(archive, SourceArchives.texts(List.of(HEADER, "Source/a.c")));
        Path unpacked = CmsisNnArtifact.folder("com.example:nn:7.0.0", folder, environment);
        assertThat(Files.getPosixFilePermissions(unpacked))
                .isEqualTo(Files.getPosixFilePermissions(Files.createDirectory(folder.resolve("new"))));
    }

    @Test
    void extensionAndClassifierMayBeStated() throws IOException {
        SourceArchives.zip(archive, SourceArchives.texts(List.of(HEADER, "Source/a.c")));
        for (String text :
                List.of("com.example:nn:7.0.0", "com.example:nn:7.0.0:jar", " com.example:nn:7.0.0:tar.gz:src ")) {
            CmsisNnArtifact.folder(text, folder, environment);
        }
        assertThat(fetched)
                .containsExactly(
                        "com.example:nn:7.0.0::zip", "com.example:nn:7.0.0::jar", "com.example:nn:7.0.0:src:tar.gz");
    }

    /** A release as it is published: everything in one folder, and more than Kiln needs. */
    @Test
    void headersAndSourcesOfAReleaseAreUnpackedOnce() throws IOException {
        Map<String, byte[]> release = SourceArchives.below(STAND_IN, "CMSIS-NN-7.0.0/");
        release.put("CMSIS-NN-7.0.0/Tests/UnitTest/main.c", new byte[1000]);
        release.put("CMSIS-NN-7.0.0/Source/CMakeLists.txt", new byte[1000]);
        release.put("CMSIS-NN-7.0.0/" + "long/".repeat(60) + "name.c", new byte[10]);
        List<Path> folders = new ArrayList<>();
        for (Path each : List.of(
                SourceArchives.tarGz(folder.resolve("a"), release), SourceArchives.zip(folder.resolve("b"), release))) {
            archive = each;
            Path unpacked = CmsisNnArtifact.folder("com.example:nn:7.0.0", folder, environment);
            Map<String, byte[]> library = SourceArchives.below(STAND_IN, "");
            library.remove("README.md");
            assertThat(SourceArchives.below(unpacked, "").keySet()).isEqualTo(library.keySet());
            library.forEach(
                    (name, content) -> assertThat(unpacked.resolve(name)).hasBinaryContent(content));
            assertThat(CmsisNnArtifact.folder("com.example:nn:7.0.0", folder, environment))
                    .isEqualTo(unpacked);
            folders.add(unpacked);
        }
        try (Stream<Path> all = Files.list(folder.resolve("home/cmsis-nn"))) {
            assertThat(all).containsExactlyInAnyOrderElementsOf(folders);
        }
    }

    @Test
    void anotherLibraryIsRefused() throws IOException {
        SourceArchives.zip(archive, SourceArchives.texts(List.of("Include/other.h", "Source/a.c", "pom.xml")));
        refused("the archive has no " + HEADER);
        Files.writeString(archive, "no archive");
        refused("this is not an archive of CMSIS-NN", "a zip, jar or tar.gz");
        Files.write(archive, new byte[0]);
        refused("this is not an archive of CMSIS-NN");
    }

    @Test
    void aDirectoryOfManyEntriesIsNotRead() throws IOException {
        Files.write(archive, CrowdedZip.of(50_001, "x"));
        assertThat(ReaderProperty.holds(() -> CmsisNnArchive.read(archive))).isFalse();
        refused("the archive has too many entries", "at most 50000");
    }

    @Test
    void hostileEntriesAreRefused() throws IOException {
        for (String name : List.of("Source/../../evil.c", "../Source/evil.c", "Source/a\u0007.c", "x/Source/ .c")) {
            SourceArchives.zip(archive, SourceArchives.texts(List.of(HEADER, name)));
            refused("the entry has no proper name");
            SourceArchives.tarGz(archive, SourceArchives.texts(List.of(HEADER, name)));
            refused("the entry has no proper name");
        }
        SourceArchives.zip(archive, SourceArchives.texts(List.of(HEADER, "Source/a.c", "Source/A.c")));
        refused("the entry exists twice", "Source/");
        SourceArchives.link(archive, "Source/link.c");
        refused("the entry is not a plain file", "Source/link.c");
    }

    @Test
    void bombsAreRefused() throws IOException {
        Map<String, byte[]> bomb = new TreeMap<>(Map.of("Source/zeros.c", new byte[(4 << 20) + 1]));
        SourceArchives.zip(archive, bomb);
        refused("the sources are too large", "Source/zeros.c");
        SourceArchives.tarGz(archive, bomb);
        refused("the sources are too large", "Source/zeros.c");
        bomb.clear();
        IntStream.range(0, 17).forEach(i -> bomb.put("Source/zeros" + i + ".c", new byte[4 << 20]));
        SourceArchives.zip(archive, bomb);
        refused("the sources are too large", "67108864 in all");
        SourceArchives.zip(
                archive,
                SourceArchives.texts(IntStream.range(0, 2001)
                        .mapToObj(i -> "Source/" + i + ".c")
                        .toList()));
        refused("too many sources", "at most 2000");
        SourceArchives.longName(archive, 300 << 10);
        refused("the headers of an entry have more than 262144 bytes");
    }

    /** Cut and altered archives are read, or refused in one message; nothing is unpacked half. */
    @Test
    void damagedArchivesNeverCrash() throws IOException {
        Map<String, byte[]> release = SourceArchives.below(STAND_IN, "nn/");
        Random random = new Random(7);
        int refusals = 0;
        for (Path good : List.of(
                SourceArchives.tarGz(folder.resolve("a"), release), SourceArchives.zip(folder.resolve("b"), release))) {
            byte[] content = Files.readAllBytes(good);
            for (int i = 0; i < 150; i++) {
                byte[] damaged =
                        Arrays.copyOf(content, random.nextBoolean() ? content.length : random.nextInt(content.length));
                for (int change = random.nextInt(4); change >= 0 && damaged.length > 0; change--) {
                    damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
                }
                Files.write(archive, damaged);
                try {
                    assertThat(CmsisNnArchive.read(archive)).containsKey(HEADER);
                } catch (KilnException e) {
                    assertThat(e.problems()).hasSize(1);
                    refusals++;
                }
            }
        }
        assertThat(refusals).isGreaterThan(200);
    }

    private void refused(String... parts) {
        assertThatThrownBy(() -> CmsisNnArtifact.folder("com.example:nn:1", folder, environment))
                .isInstanceOf(KilnException.class)
                .hasMessageContainingAll(parts)
                .hasMessageContaining(archive.toString());
        assertThat(folder.resolve("home")).doesNotExist();
    }
}
