// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelLibrary.ArchiveOrigin;
import io.kiln.base.Digests;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.ResourceTree;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.base.incremental.Fingerprint.Made;
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.TestToolchains;
import io.kiln.toolchain.compiler.Toolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Objects that projects share. The log of a build says which of them came from the cache. */
class ObjectCacheTest {
    private static final String CACHED = " # its object was in the cache";
    private static final ArchiveOrigin ORIGIN = new ArchiveOrigin("net.tar", "ab".repeat(32));

    @TempDir
    private Path folder;

    @Test
    void anotherProjectTakesTheObjectsAndItsImageIsTheSame() throws IOException {
        Path cache = folder.resolve("cache");
        Image first = build(request("mps2-an386", "gnu", "one", cache), "one");
        assertThat(compiled("one")).isNotEmpty();
        assertThat(taken("one")).isEmpty();

        Image second = build(request("mps2-an386", "gnu", "a/further one", cache), "a/further one");

        assertThat(compiled("a/further one")).isEmpty();
        assertThat(taken("a/further one")).hasSizeGreaterThan(5);
        assertThat(second.elf()).hasSameBinaryContentAs(first.elf());
    }

    @Test
    void anObjectWhoseSourceOrHeaderDiffersOrIsHiddenIsNotTaken() throws IOException {
        Path cache = folder.resolve("cache");
        for (String project : List.of("one", "table", "header")) {
            write(project + "/src/main/c/other.h", "");
        }
        build(request("host", "host", "one", cache), "one");

        FirmwareRequest hiding = request("host", "host", "hiding", cache);
        write(
                "hiding/src/main/c/tvmgen_default.h",
                "#include <stdlib.h>\n#include \"../codegen/host/include/tvmgen_default.h\"\n");
        write("hiding/src/main/c/elsewhere.h", "#error nobody reads it\n");
        build(hiding, "hiding");
        assertThat(compiled("hiding")).isNotEmpty().allMatch(line -> line.contains("app/") || line.contains("lib0.c"));
        assertThat(taken("hiding")).isNotEmpty();

        build(
                request("host", "host", "table", List.of(TestFirmware.model("default", 1001)), Optimize.SPEED, cache),
                "table");
        assertThat(compiled("table")).singleElement().asString().contains("default_lib1.c");

        ModelLibrary model = TestFirmware.model("default", 1000);
        List<Artifact> files = model.artifacts().artifacts().stream()
                .map(file -> file.fileName().endsWith(".h")
                        ? Artifact.ofText(
                                "c",
                                file.kind(),
                                file.fileName(),
                                file.content().text() + "/* */\n")
                        : file)
                .toList();
        ModelLibrary other = new ModelLibrary(model.metadata(), new ArtifactSet(files));
        build(request("host", "host", "header", List.of(other), Optimize.SPEED, cache), "header");
        assertThat(compiled("header")).isNotEmpty().allMatch(line -> line.contains("app/") || line.contains("lib0.c"));
    }

    @Test
    void theUsersSourcesAndThoseThatDependOnMoreAreAlwaysCompiled() throws IOException {
        Path cache = folder.resolve("cache");
        ModelLibrary model = TestFirmware.model("default", 1000);
        List<Artifact> files = model.artifacts().artifacts().stream()
                .map(file -> file.fileName().endsWith("lib1.c")
                        ? Artifact.ofText(
                                "c",
                                file.kind(),
                                file.fileName(),
                                "#if defined(__has_include) && __has_include(\"extra.h\")\n#error\n#endif\n"
                                        + file.content().text())
                        : file)
                .toList();
        ModelLibrary asking = new ModelLibrary(model.metadata(), new ArtifactSet(files));
        for (String project : List.of("one", "two")) {
            write(project + "/src/main/c/own.c", "int own(void);\nint own(void) { return 1; }\n");
            build(request("host", "host", project, List.of(asking), Optimize.SPEED, cache), project);
        }
        assertThat(compiled("two"))
                .satisfiesExactlyInAnyOrder(
                        line -> assertThat(line).contains("default_lib1.c"),
                        line -> assertThat(line).contains("main/own.c"));
    }

    @Test
    void aDamagedOrDeletedObjectIsCompiledAgain() throws IOException {
        Path cache = folder.resolve("cache");
        Image first = build(request("host", "host", "one", cache), "one");
        List<Path> objects = Fingerprint.filesBelow(cache.resolve("objects"));
        Files.write(objects.get(0), new byte[] {1, 2, 3});
        Files.delete(objects.get(1));
        Path list = Fingerprint.filesBelow(cache.resolve("lists")).get(0);
        Files.writeString(list, "{\"format\": 3, \"results\": [");

        Image second = build(request("host", "host", "two", cache), "two");

        assertThat(compiled("two")).hasSizeBetween(2, 3);
        assertThat(second.elf()).hasSameBinaryContentAs(first.elf());
        build(request("host", "host", "three", cache), "three");
        assertThat(compiled("three")).isEmpty();
        FirmwareRequest size =
                request("host", "host", "size", List.of(TestFirmware.model("default", 1000)), Optimize.SIZE, cache);
        build(size, "size");
        assertThat(taken("size")).as("with other flags").isEmpty();
    }

    @Test
    void whatWasUsedLongestAgoIsDeleted() throws IOException {
        Path folderOfAll = folder.resolve("cache");
        ObjectCache cache = ObjectCache.of(
                TestToolchains.resolve("host", TestFirmware.board("host").target())
                        .withObjectCache(Optional.of(folderOfAll)));
        for (int i = 0; i < 8; i++) {
            Path object = Files.write(folder.resolve("some.o"), new byte[1000 + i]);
            cache.keep("key" + i, Made.of(Fingerprint.of("object").value("number", i), Map.of()), object);
        }
        assertThat(cache.find("key3", made -> true, folder.resolve("taken.o"))).isPresent();
        assertThat(folder.resolve("taken.o")).hasSize(1003);
        assertThat(cache.find("key3", made -> false, folder.resolve("taken.o"))).isEmpty();
        long bytes = 0;
        for (Path file : Fingerprint.filesBelow(folderOfAll)) {
            bytes += Files.size(file);
            Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000_000_000L));
        }
        assertThat(cache.find("key5", made -> true, folder.resolve("taken.o"))).isPresent();

        cache.limit(bytes);
        assertThat(Fingerprint.filesBelow(folderOfAll)).hasSize(16);

        cache.limit(bytes - 1);
        assertThat(cache.find("key5", made -> true, folder.resolve("taken.o"))).isPresent();
        long left = 0;
        for (Path file : Fingerprint.filesBelow(folderOfAll)) {
            left += Files.size(file);
        }
        assertThat(left).isPositive().isLessThanOrEqualTo(bytes / 2);
    }

    @Test
    void itsSizeIsLookedAtAfterOneOfSixteenObjects() {
        Fingerprint inputs = Fingerprint.of("object").value("number", 1);
        assertThat(IntStream.range(0, 512)
                        .mapToObj(number -> Digests.sha256("object" + number))
                        .filter(digest -> ObjectCache.isTurn(Made.of(inputs, Map.of("main.o", digest)))))
                .hasSizeBetween(16, 64);
        assertThat(ObjectCache.isTurn(Made.of(inputs, Map.of("main.o", "0a")))).isTrue();
        assertThat(ObjectCache.isTurn(Made.of(inputs, Map.of("main.o", "a0")))).isFalse();
    }

    /** The runtime's sources come from the cache only as long as they would read nothing of the archive. */
    @Test
    void untrustedFilesAreCheckedWhateverIsInTheCache() throws IOException {
        Path cache = folder.resolve("cache");
        build(request("mps2-an386", "clang", "own", cache), "own");
        ModelLibrary foreign = foreign("");
        build(request("mps2-an386", "clang", "one", List.of(foreign), Optimize.SPEED, cache), "one");
        assertThat(taken("one")).hasSizeGreaterThan(5);

        // What was compiled from checked text is there for the same text, and for nobody who reads the files.
        build(request("mps2-an386", "clang", "two", List.of(foreign), Optimize.SPEED, cache), "two");
        build(
                request("mps2-an386", "clang", "trusting", List.of(foreign), Optimize.SPEED, cache, ORIGIN.sha256()),
                "trusting");
        assertThat(compiled("trusting")).hasSize(2).allMatch(line -> line.contains("codegen/host/src/"));

        FirmwareRequest bad = request(
                "mps2-an386",
                "clang",
                "bad",
                List.of(foreign("__asm__(\".incbin \\\"x\\\"\");\n")),
                Optimize.SPEED,
                cache);
        assertThatThrownBy(() -> build(bad, "bad"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("refused in code that is not trusted");
    }

    @Test
    void aCompilerOfTheUsersOwnDescriptorHasNoCache() throws IOException {
        String target = TestFirmware.board("host").target();
        String descriptor =
                ResourceTree.read("toolchains/compilers").get("host.yaml").text();
        Path own = write("own.yaml", descriptor);
        assertThat(TestToolchains.resolve("host", target).objectCache()).isPresent();
        assertThat(TestToolchains.resolve(own.toString(), target).objectCache()).isEmpty();
        assertThat(Toolchains.resolve(
                                "host",
                                TargetOptions.parse(target),
                                TestToolchains.environment(Log.QUIET).withoutObjectCache())
                        .objectCache())
                .isEmpty();
    }

    /** A library as an archive brings it, with a line before its second source. */
    private static ModelLibrary foreign(String line) {
        ModelLibrary model = TestFirmware.model("default", 1000);
        List<Artifact> files = model.artifacts().artifacts().stream()
                .map(file -> Artifact.ofText(
                        Artifact.FOREIGN,
                        file.kind(),
                        file.fileName(),
                        (file.fileName().endsWith("lib1.c") ? line : "")
                                + file.content().text()))
                .toList();
        return new ModelLibrary(model.metadata(), new ArtifactSet(files), Optional.of(ORIGIN));
    }

    private FirmwareRequest request(String board, String toolchain, String project, Path cache) {
        return request(board, toolchain, project, List.of(TestFirmware.model("default", 1000)), Optimize.SPEED, cache);
    }

    private FirmwareRequest request(
            String board, String toolchain, String project, List<ModelLibrary> models, Optimize optimize, Path cache) {
        return request(board, toolchain, project, models, optimize, cache, "");
    }

    private FirmwareRequest request(
            String boardId,
            String toolchain,
            String project,
            List<ModelLibrary> models,
            Optimize optimize,
            Path cache,
            String trusted) {
        Board board = TestFirmware.board(boardId);
        Path root = folder.resolve(project);
        FirmwareRequest request = new FirmwareRequest(
                board,
                TestToolchains.resolve(toolchain, board.target()).withObjectCache(Optional.of(cache)),
                optimize,
                new FirmwareRequest.Content(models, UserCode.of(root.resolve("src/main/c"))),
                new FirmwareRequest.Folders(root.resolve("target/firmware"), root.resolve("target/kiln/build")),
                "test");
        return trusted.isEmpty() ? request : TestFirmware.trusting(request, TrustedArchives.parse("sha256:" + trusted));
    }

    private Image build(FirmwareRequest request, String project) {
        return TestFirmware.build(request, folder.resolve(project), Log.QUIET);
    }

    private List<String> compiled(String project) throws IOException {
        return log(project).filter(line -> !line.endsWith(CACHED)).toList();
    }

    private List<String> taken(String project) throws IOException {
        return log(project).filter(line -> line.endsWith(CACHED)).toList();
    }

    private Stream<String> log(String project) throws IOException {
        return Files.readAllLines(folder.resolve(project).resolve("target/kiln/build/compile.log")).stream()
                .filter(line -> line.startsWith("$ "));
    }

    private Path write(String file, String text) throws IOException {
        Path path = folder.resolve(file);
        Files.createDirectories(path.getParent());
        return Files.writeString(path, text);
    }
}
