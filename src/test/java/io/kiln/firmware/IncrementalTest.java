// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.toolchain.compiler.Toolchain;
import io.kiln.toolchain.compiler.Toolchain.CompilerDriver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is rebuilt, and what is said about it. The system's compiler serves as well as any. */
class IncrementalTest {
    private static final FileTime LONG_AGO = FileTime.fromMillis(1_000_000_000_000L);

    @TempDir
    Path folder;

    private final RecordingLog log = new RecordingLog();

    @Test
    void nothingChangedNothingIsRebuiltAndItSaysSo() throws IOException {
        assertThat(build(request()).relinked()).isTrue();
        assertThat(log.take().get(1)).matches("Compiling \\d+ files \\(.*\\)");
        Path elf = folder.resolve("target/app.elf");
        Path source = folder.resolve("target/firmware/codegen/host/src/default_lib0.c");
        Files.setLastModifiedTime(elf, LONG_AGO);
        Files.setLastModifiedTime(source, LONG_AGO);

        assertThat(build(request()).relinked()).isFalse();

        assertThat(log.take().subList(1, 3))
                .satisfiesExactly(
                        line -> assertThat(line).matches("Nothing changed: \\d+ objects are up to date"),
                        line -> assertThat(line).startsWith("Nothing changed: " + elf + " is up to date (flash "));
        assertThat(Files.getLastModifiedTime(elf)).isEqualTo(LONG_AGO);
        assertThat(Files.getLastModifiedTime(source)).isEqualTo(LONG_AGO);
    }

    @Test
    void oneChangedSourceRebuildsItselfAndTheImage() {
        build(request());
        log.take();

        Image image = build(request(TestFirmware.model("default", 1001), Optimize.SPEED, "test"));

        assertThat(log.take().get(1)).matches("Rebuilding 1 of \\d+: default_lib1.c changed .*");
        assertThat(image.relinked()).isTrue();
    }

    @Test
    void aChangedHeaderRebuildsWhatReadsIt() throws IOException {
        user("a.c", "#include \"sub/a.h\"\nint a(void);\nint a(void) { return A; }\n");
        user("b.c", "int b(void);\nint b(void) { return 2; }\n");
        user("sub/a.h", "#define A 1\n");
        build(request());
        log.take();
        user("sub/a.h", "#define A 2\n");

        build(request());

        assertThat(log.take().get(1)).matches("Rebuilding 1 of \\d+: a.h changed .*");
    }

    @Test
    void anAddedHeaderThatHidesAnotherRebuildsWhatReadTheOther() throws IOException {
        user("a.c", "#include \"hidden.h\"\nint a(void);\nint a(void) { return HIDDEN; }\n");
        user("include/hidden.h", "#define HIDDEN 1\n");
        build(request());
        log.take();
        user("hidden.h", "#define HIDDEN 2\n");
        user("other.h", "#define OTHER 2\n");

        build(request());
        assertThat(log.take().get(1)).matches("Rebuilding 1 of \\d+: hidden.h was added .*");

        build(request());
        assertThat(log.take().get(1)).startsWith("Nothing changed");
    }

    @Test
    void changedFlagsAndPluginCountAsChanges() {
        build(request());
        log.take();

        build(request(TestFirmware.model("default", 1000), Optimize.SIZE, "test"));
        assertThat(log.take().get(1)).matches("Rebuilding (\\d+) of \\1: flags changed .*");

        build(request(TestFirmware.model("default", 1000), Optimize.SIZE, "next"));
        assertThat(log.take().get(1)).matches("Rebuilding (\\d+) of \\1: compiler or plugin changed .*");
    }

    @Test
    void aLostObjectOrImageIsMadeAgain() throws IOException {
        Image image = build(request());
        Files.delete(folder.resolve("target/kiln/build/objects/codegen/host/src/default_lib0.c.o"));
        Files.delete(image.map());
        log.take();

        assertThat(build(request()).relinked()).isTrue();

        assertThat(log.take().get(1)).matches("Rebuilding 1 of \\d+: default_lib0.c.o is gone .*");
        assertThat(image.map()).exists();
    }

    @Test
    void everySourceThatDoesNotCompileIsShownAsTheCompilerShowsItAndNothingIsLinked() throws IOException {
        user("bad.c", "int bad(void) { return nowhere; }\n");
        user("worse.c", "#error this is worse\n");

        assertThatThrownBy(() -> build(request()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("2 problems")
                .hasMessageContaining("src/main/c/bad.c: does not compile")
                .hasMessageContaining("\n    " + folder.resolve("src/main/c/bad.c") + ":1:")
                .hasMessageContaining("\n    " + folder.resolve("src/main/c/worse.c") + ":1:")
                .hasMessageContaining("nowhere")
                .hasMessageContaining("#error this is worse");
        assertThat(folder.resolve("target/app.elf")).doesNotExist();
        assertThat(folder.resolve("target/kiln/build/compile.log"))
                .content()
                .contains("$ cc ")
                .contains("this is worse");

        user("bad.c", "int bad(void);\nint bad(void) { return 1; }\n");
        Files.delete(folder.resolve("src/main/c/worse.c"));
        log.take();
        build(request());
        assertThat(log.take().get(1)).matches("Rebuilding 1 of \\d+: new .*");
    }

    @Test
    void warningsInTheUsersCodeAreShownAndDoNotFail() throws IOException {
        user("careless.c", "static int unused(void) { return 1; }\n");

        build(request());

        assertThat(log.warnings).anyMatch(line -> line.contains("careless.c") && line.contains("unused"));
    }

    @Test
    void whatCannotBeLinkedIsShownAsTheLinkerShowsIt() throws IOException {
        user("main.c", "int nowhere(void);\nint main(void) { return nowhere(); }\n");

        assertThatThrownBy(() -> build(request()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("app.elf: does not link")
                .hasMessageContaining("nowhere");
        assertThat(folder.resolve("target/app.elf")).doesNotExist();
        assertThat(folder.resolve("target/kiln/build/link.log")).content().contains("nowhere");
    }

    /** A compiler that reads files, and only then are they edited: the next build must not trust the objects. */
    @Test
    void whatIsEditedWhileTheCompilerRunsIsStaleTheNextTime() throws IOException {
        Path elsewhere = folder.resolve("elsewhere.h");
        Files.writeString(elsewhere, "#define C 1\n");
        user("a.c", "int a(void);\nint a(void) { return 1; }\n");
        user("b.c", "#include \"b.h\"\nint b(void);\nint b(void) { return B; }\n");
        user("b.h", "#define B 1\n");
        user("c.c", "#include \"" + elsewhere + "\"\nint c(void);\nint c(void) { return C; }\n");
        Path edits = folder.resolve("edits.sh");
        Files.writeString(
                edits,
                "case \"$*\" in\n*main/a.c*) echo 'int x;' >> main/a.c;;\n*main/b.c*) echo '#define B 2' > main/b.h;;\n"
                        + "*main/c.c*) echo '#define C 2' > " + elsewhere + ";;\nesac\n");
        build(editing(edits));
        log.take();
        Files.delete(edits);

        build(editing(edits));

        assertThat(log.take().get(1)).matches("Rebuilding 3 of \\d+: .*");
        build(editing(edits));
        assertThat(log.take().get(1)).contains("up to date");
    }

    @Test
    void dataThatAssemblerReadsCountsAsInput() throws IOException {
        user("a.S", "  .data\n  .incbin \"main/blob.bin\"\n");
        user("blob.bin", "1");
        build(request());
        log.take();
        user("blob.bin", "2");

        build(request());

        assertThat(log.take().get(1)).matches("Rebuilding 1 of \\d+: blob.bin changed .*");
    }

    /** The host's compiler, behind which a script may edit files. */
    private FirmwareRequest editing(Path edits) throws IOException {
        FirmwareRequest request = request();
        Toolchain host = request.toolchain();
        Path compiler = folder.resolve("cc.sh");
        Files.writeString(
                compiler,
                "#!/bin/sh\n" + host.compiler() + " \"$@\" || exit 1\n[ ! -f " + edits + " ] || . " + edits + "\n");
        assertThat(compiler.toFile().setExecutable(true)).isTrue();
        CompilerDriver driver = new CompilerDriver(compiler.toString(), host.version(), host.home());
        Toolchain edited = new Toolchain(
                host.id(), host.title(), driver, host.cpu(), host.shims(), host.flags(), Optional.empty());
        return new FirmwareRequest(
                request.board(), edited, request.optimize(), request.content(), request.folders(), "test");
    }

    private FirmwareRequest request() {
        return request(TestFirmware.model("default", 1000), Optimize.SPEED, "test");
    }

    private FirmwareRequest request(ModelLibrary model, Optimize optimize, String version) {
        FirmwareRequest request =
                TestFirmware.request(TestFirmware.board("host"), "host", optimize, List.of(model), folder);
        return new FirmwareRequest(
                request.board(),
                request.toolchain(),
                request.optimize(),
                request.content(),
                request.folders(),
                version);
    }

    private Image build(FirmwareRequest request) {
        return TestFirmware.build(request, folder, log);
    }

    private void user(String name, String text) throws IOException {
        Path file = folder.resolve("src/main/c").resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
