// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.JavaSources;
import io.kiln.base.Log;
import io.kiln.docs.DocBlock;
import io.kiln.flow.GestureProject;
import io.kiln.flow.contract.ContractStep;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page host-driven.md shows how a program uses the classes that Kiln generates for its model. */
class HostDrivenPageTest {
    @TempDir
    private Path folder;

    @Test
    void theUseOfTheGeneratedClassesCompiles() throws IOException {
        List<DocBlock> blocks = DocBlock.of("java").stream()
                .filter(block ->
                        block.page().equals("host-driven.md") && block.text().contains("GestureClient"))
                .toList();
        assertThat(blocks).hasSize(1);
        Path sources = Files.createDirectories(folder.resolve("sources"));
        new ContractStep(Log.QUIET, new GestureProject(folder).spec("host").build())
                .run(sources, "com.example.model", true);
        Files.writeString(
                sources.resolve("Service.java"),
                "import com.example.model.*;\nimport io.kiln.device.transport.Transport;\n"
                        + "import io.kiln.device.transport.serial.SerialConsole;\nimport java.time.Duration;\n"
                        + "import java.util.List;\nclass Service {\n  static float[] run(float[] samples) {\n"
                        + blocks.get(0).text() + "    return new float[0];\n  }\n}\n");
        List<Path> files = new ArrayList<>(JavaSources.below(sources));
        assertThat(files).hasSizeGreaterThan(3);
        JavaSources.compile(System.getProperty("java.class.path"), folder.resolve("classes"), files);
    }
}
