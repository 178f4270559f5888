// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FirmwareAssemblerTest {
    @TempDir
    Path folder;

    private final RecordingLog log = new RecordingLog();

    @Test
    void withoutAMainTheDefaultApplicationTakesPart() throws IOException {
        user("helper.c", "int helper(void);\nint helper(void) { return 1; } /* int main(void) { } */\n");

        FirmwareProject project = assemble(request(TestFirmware.model("default", 10)));

        assertThat(paths(project)).contains("app/main.c", "main/helper.c", "codegen/host/src/default_lib0.c");
        assertThat(log.infos).singleElement().asString().contains("with the default application");
    }

    @Test
    void theUsersMainReplacesTheDefaultApplicationAndItsFilesVanish() throws IOException {
        FirmwareProject first = assemble(request(TestFirmware.model("default", 10)));
        assertThat(first.directory().resolve("app/main.c")).exists();
        Files.writeString(first.directory().resolve("notes.txt"), "mine");
        user("start.c", "#include <stdint.h>\nint\nmain(void)\n{\n  return 0;\n}\n");

        FirmwareProject project = assemble(request(TestFirmware.model("default", 10)));

        assertThat(paths(project)).contains("main/start.c").doesNotContain("app/main.c");
        assertThat(project.directory().resolve("app/main.c")).doesNotExist();
        assertThat(project.directory().resolve("notes.txt")).exists();
        assertThat(log.infos.get(1)).contains("the project's own main");
    }

    @Test
    void twoModelsLieSideBySideButNotUnderOneName() {
        FirmwareProject project = assemble(request(TestFirmware.model("one", 10), TestFirmware.model("two", 10)));
        assertThat(paths(project)).contains("codegen/host/src/one_lib0.c", "codegen/host/src/two_lib0.c");

        assertThatThrownBy(() -> assemble(request(TestFirmware.model("one", 10), TestFirmware.model("one", 11))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("one_lib1.c: two models bring a file of this name");
    }

    @Test
    void aCompilerForAnotherMachineIsRefused() {
        FirmwareRequest host = request(TestFirmware.model("default", 10));
        FirmwareRequest mixed = new FirmwareRequest(
                TestFirmware.board("mps2-an386"),
                host.toolchain(),
                host.optimize(),
                host.content(),
                host.folders(),
                "test");

        assertThatThrownBy(() -> assemble(mixed))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("board mps2-an386: toolchain host compiles for host");
    }

    @Test
    void compileCommandsCanBeRunAsTheyAreForCopiesAndOriginals() throws IOException {
        user("start.c", "#include \"tvmgen_default.h\"\nint main(void) { return 0; }\n");
        FirmwareProject project = assemble(request(TestFirmware.model("default", 10)));
        Files.createDirectories(project.objectDirectory());
        JsonNode entries = new ObjectMapper()
                .readTree(project.directory().resolve("compile_commands.json").toFile());

        List<String> files = new ArrayList<>();
        for (JsonNode entry : entries) {
            files.add(entry.get("file").asText());
            List<String> line = new ArrayList<>();
            entry.get("arguments").forEach(word -> line.add(word.asText()));
            line.set(line.size() - 1, folder.resolve("out.o").toString());
            var result = ProcessRunner.run(
                    Command.ofLine(line).in(Path.of(entry.get("directory").asText())));
            assertThat(result.succeeded()).as(result.message()).isTrue();
        }
        assertThat(files)
                .contains("main/start.c", folder.resolve("src/main/c/start.c").toString());
    }

    private FirmwareProject assemble(FirmwareRequest request) {
        return FirmwareAssembler.assemble(request, log);
    }

    private FirmwareRequest request(ModelLibrary... models) {
        return TestFirmware.request(TestFirmware.board("host"), "host", Optimize.SPEED, List.of(models), folder);
    }

    private static List<String> paths(FirmwareProject project) {
        return project.units().stream().map(SourceUnit::path).toList();
    }

    private void user(String name, String text) throws IOException {
        Path file = folder.resolve("src/main/c").resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
