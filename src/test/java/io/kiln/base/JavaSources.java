// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Compiles Java of examples. */
public final class JavaSources {
    private JavaSources() {}

    /**
     * Compiles files, without a warning.
     *
     * @param classPath all that they may use beside the JDK
     * @param classes where their classes go
     */
    public static void compile(String classPath, Path classes, List<Path> files) throws IOException {
        Files.createDirectories(classes);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter said = new StringWriter();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            List<String> options = List.of(
                    "-proc:none",
                    "-Xlint:all,-path,-serial,-processing,-try",
                    "-Werror",
                    "-sourcepath",
                    "",
                    "-cp",
                    classPath,
                    "-d",
                    classes.toString());
            boolean isGood = compiler.getTask(
                            said, manager, null, options, null, manager.getJavaFileObjectsFromPaths(files))
                    .call();
            assertThat(isGood).as("%s", said).isTrue();
        }
    }

    /** All Java files below a folder. */
    public static List<Path> below(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .sorted()
                    .toList();
        }
    }

    /**
     * A class path with the interface that lasts, and nothing else of Kiln.
     *
     * @param folder gets a copy of its classes
     */
    public static String promised(Path folder) throws IOException {
        for (String name : List.of("api", "spi")) {
            Path own = Path.of("target", "classes", "io", "kiln", name);
            try (Stream<Path> files = Files.list(own)) {
                for (Path file : files.toList()) {
                    Path copy = folder.resolve("io/kiln").resolve(name).resolve(file.getFileName());
                    Files.createDirectories(copy.getParent());
                    Files.copy(file, copy);
                }
            }
        }
        return folder.toString();
    }
}
