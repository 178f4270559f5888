// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page about host-driven runs shows a program that compiles. */
class HostDrivenPageTest {
    private static final Pattern PROGRAM = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    @TempDir
    private Path folder;

    @Test
    void itsProgramCompiles() throws IOException {
        Matcher program = PROGRAM.matcher(Files.readString(Path.of("src/site/markdown/host-driven.md")));
        assertThat(program.find()).isTrue();
        Path file = Files.writeString(folder.resolve("Bench.java"), program.group(1));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter said = new StringWriter();
        boolean isGood = compiler.getTask(
                        said,
                        null,
                        null,
                        List.of("-proc:none", "-Xlint:all", "-Werror", "-Xlint:-path", "-d", folder.toString()),
                        null,
                        compiler.getStandardFileManager(null, null, null).getJavaFileObjects(file))
                .call();
        assertThat(said.toString()).isEmpty();
        assertThat(isGood).isTrue();
    }
}
