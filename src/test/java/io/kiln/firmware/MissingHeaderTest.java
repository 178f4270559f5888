// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A header that does not exist: the message names those that do. */
class MissingHeaderTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "clang|main.c|tvmgen_hello.h|the headers tvmgen_default.h, tvmgen_other.h, which are named by its"
                        + " models",
                "gnu|main.c|tvmgen_hello.h|or name the model with kiln.name",
                "gnu|main.cpp|tvmgen_hello_tensors.h|the headers tvmgen_default.h, tvmgen_other.h",
                "clang|main.c|nowhere.h|no header of that name. It has those of its models (tvmgen_default.h",
                "gnu|main.c|nowhere.h|kiln_console.h",
                "clang|main.c|pins.h|This build has src/main/c/parts/pins.h: include it by a path",
            })
    void theHeadersOfTheBuildAreNamed(String toolchain, String source, String header, String expected)
            throws IOException {
        Path sources =
                Files.createDirectories(folder.resolve("src/main/c/parts")).getParent();
        Files.writeString(sources.resolve("parts/pins.h"), "#define PIN 1\n");
        Files.writeString(sources.resolve(source), "#include \"" + header + "\"\nint main(void) { return 0; }\n");
        FirmwareRequest request = TestFirmware.request(
                TestFirmware.board("mps2-an386"),
                toolchain,
                Optimize.SIZE,
                List.of(TestFirmware.model("default", 100), TestFirmware.model("other", 100)),
                folder);
        FirmwareProject project = FirmwareAssembler.assemble(request, Log.QUIET);
        assertThatThrownBy(() -> FirmwareCompiler.compile(project, Log.QUIET))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("does not compile")
                .hasMessageContaining(header)
                .hasMessageContaining(expected);
    }
}
