// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.mlf.ModelLibraryFormat;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example in the package's documentation compiles and does what it says. */
class LibraryExampleTest {
    private static final Path DOCUMENTATION =
            Path.of("src", "main", "java", "io", "kiln", "compile", "package-info.java");
    private static final Path MODEL = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");
    private static final String IMPORTS = """
            import io.kiln.artifact.*;
            import io.kiln.base.*;
            import io.kiln.compile.*;
            import io.kiln.mlf.*;
            import io.kiln.mlf.ModelLibraryFormat.Options;
            import java.nio.file.*;
            import java.util.*;
            """;

    @TempDir
    private Path folder;

    @Test
    void theExampleWritesCAndAnArchive() throws Exception {
        Path classes = compile(IMPORTS + "public class Example {\n"
                + "public static void run(Path model, Path folder) throws java.io.IOException {\n" + example()
                + "\n}\n}\n");
        Path out = Files.createDirectory(folder.resolve("out"));
        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {classes.toUri().toURL()}, getClass().getClassLoader())) {
            loader.loadClass("Example").getMethod("run", Path.class, Path.class).invoke(null, MODEL, out);
        }

        assertThat(out.resolve("gesture_lib0.c")).content().contains("int32_t tvmgen_gesture_run(");
        assertThat(out.resolve("gesture_lib1.c")).content().contains("-mcpu=cortex-m4");
        assertThat(ModelLibraryFormat.read(out.resolve("gesture-mlf.tar")))
                .extracting(library -> library.metadata().name())
                .containsExactly("gesture");
    }

    private static String example() throws IOException {
        List<String> lines = Files.readAllLines(DOCUMENTATION);
        int begin = lines.indexOf(" * <pre>{@code");
        int end = lines.indexOf(" * }</pre>");
        assertThat(begin).isPositive();
        return lines.subList(begin + 1, end).stream()
                .map(line -> line.replaceFirst("^ \\*", ""))
                .collect(Collectors.joining("\n"));
    }

    private Path compile(String source) throws IOException {
        Path file = Files.writeString(folder.resolve("Example.java"), source);
        Path classes = Files.createDirectory(folder.resolve("classes"));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<String> options =
                    List.of("-proc:none", "-d", classes.toString(), "-cp", System.getProperty("java.class.path"));
            assertThat(compiler.getTask(messages, files, null, options, null, files.getJavaFileObjects(file))
                            .call())
                    .as("%s", messages)
                    .isTrue();
        }
        return classes;
    }
}
