// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.firmware.image.ImageFiles.Image;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Same inputs, same bytes: in another folder, and by plain make. */
class ReproducibilityTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"gnu,mps2-an386", "clang,qemu-riscv32", "host,host"})
    void anotherFolderGivesTheSameImage(String toolchain, String board) throws IOException {
        Path one = folder.resolve("one");
        Path two = folder.resolve("another/folder with blanks");
        userSource(one);
        userSource(two);
        Image first = TestFirmware.build(compilingAll(TestFirmware.request(board, toolchain, one)), one, Log.QUIET);
        Image second = TestFirmware.build(compilingAll(TestFirmware.request(board, toolchain, two)), two, Log.QUIET);

        List<Path> files = first.files();
        for (int i = 0; i < files.size(); i++) {
            assertThat(second.files().get(i)).hasSameBinaryContentAs(files.get(i));
        }
        for (String name : List.of("Makefile", "codegen/host/src/default_lib1.c")) {
            assertThat(two.resolve("target/firmware").resolve(name))
                    .hasSameBinaryContentAs(one.resolve("target/firmware").resolve(name));
        }
        assertThat(Files.readString(first.map())).doesNotContain(folder.toString());
    }

    /** What make and shells read in another way, in the project's path and in a file's name. */
    @Test
    void plainMakeTakesAnyPath() throws IOException {
        Assumptions.assumeTrue(
                Executables.find("make").isPresent() || "true".equals(System.getenv("CI")), "there is no make");
        // Java names folders of processes in file.encoding, which one fork of the tests has otherwise.
        boolean isUtf8 = "UTF-8".equals(System.getProperty("sun.jnu.encoding"))
                && "UTF-8".equals(System.getProperty("file.encoding"));
        String accent = isUtf8 ? "é" : "";
        Path odd = folder.resolve("it's a #1 $HOME (x), `y` & " + accent);
        Path sources = Files.createDirectories(odd.resolve("src/main/c/a folder's"));
        Files.writeString(
                sources.resolve("it's $(odd) #2 & " + accent + ".c"), "int odd(void);\nint odd(void) { return 1; }\n");
        Image image = TestFirmware.build(TestFirmware.request("host", "host", odd), odd, Log.QUIET);
        Path project = odd.resolve("target/firmware");

        ProcessResult made = ProcessRunner.run(Command.of("make").in(project));

        assertThat(made.exitCode()).as(made.message()).isZero();
        assertThat(project.resolve("build/firmware.elf")).hasSameBinaryContentAs(image.elf());
        ProcessResult again = ProcessRunner.run(Command.of("make").in(project));
        assertThat(again.output()).contains("Nothing to be done");
    }

    @ParameterizedTest
    @CsvSource({"gnu,qemu-riscv32", "clang,mps2-an386", "host,host"})
    void plainMakeBuildsTheSameElf(String toolchain, String board) throws IOException {
        Assumptions.assumeTrue(
                Executables.find("make").isPresent() || "true".equals(System.getenv("CI")), "there is no make");
        userSource(folder);
        Image image = TestFirmware.build(TestFirmware.request(board, toolchain, folder), folder, Log.QUIET);
        Path project = folder.resolve("target/firmware");

        ProcessResult made = ProcessRunner.run(Command.of("make", "-j2").in(project));

        assertThat(made.exitCode()).as(made.message()).isZero();
        assertThat(project.resolve("build/firmware.elf")).hasSameBinaryContentAs(image.elf());
        ProcessResult again = ProcessRunner.run(Command.of("make").in(project));
        assertThat(again.output()).contains("Nothing to be done");
        ProcessRunner.run(Command.of("make", "clean").in(project));
        assertThat(project.resolve("build")).doesNotExist();
    }

    /** With an object cache, the second image would have the first one's objects. */
    private static FirmwareRequest compilingAll(FirmwareRequest request) {
        return new FirmwareRequest(
                request.board(),
                request.toolchain().withObjectCache(Optional.empty()),
                request.optimize(),
                request.content(),
                request.folders(),
                request.pluginVersion());
    }

    /** Beside the default application; it says its own name. */
    private static void userSource(Path project) throws IOException {
        Path file = project.resolve("src/main/c/note.c");
        Files.createDirectories(file.getParent());
        Files.writeString(file, """
                const char* note(void);
                const char kept[] __attribute__((used)) = __FILE__;
                const char* note(void) { return kept; }
                """);
    }
}
