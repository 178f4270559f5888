// SPDX-License-Identifier: Apache-2.0
package io.kiln.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.JavaSources;
import io.kiln.base.Log;
import io.kiln.flow.GestureProject;
import io.kiln.flow.export.LibraryExport;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** The programs of the page "Programs and extensions" see nothing of Kiln but the interface that lasts, and do what the page says. */
@ResourceLock(Resources.SYSTEM_OUT)
class ProgramsPageTest {
    private static final Path PAGE = Path.of("src", "site", "markdown", "programs.md");
    private static final Pattern PROGRAM =
            Pattern.compile("```java\n(.*?public class ([A-Za-z]+) .*?)```", Pattern.DOTALL);

    @TempDir
    private Path folder;

    private Path classes;

    @BeforeEach
    void compiledAgainstTheInterfaceAlone() throws IOException {
        Path sources = Files.createDirectories(folder.resolve("sources"));
        Matcher program = PROGRAM.matcher(Files.readString(PAGE));
        while (program.find()) {
            Files.writeString(sources.resolve(program.group(2) + ".java"), program.group(1));
        }
        classes = folder.resolve("classes");
        JavaSources.compile(JavaSources.promised(folder.resolve("promised")), classes, JavaSources.below(sources));
        Files.copy(GestureProject.MODEL, folder.resolve("gesture.tflite"));
    }

    private String run(String program, Object... arguments) throws Exception {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream before = System.out;
        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {classes.toUri().toURL()}, getClass().getClassLoader())) {
            System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
            String[] words = Arrays.stream(arguments).map(Object::toString).toArray(String[]::new);
            loader.loadClass(program).getMethod("main", String[].class).invoke(null, (Object) words);
        } finally {
            System.setOut(before);
        }
        return said.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aModelIsCompiledAndItsArchiveRead() throws Exception {
        assertThat(run("Compile", folder))
                .startsWith("gesture: ")
                .contains("type=INT8")
                .contains("tvmgen_gesture_run");
        ModelArchive archive = ModelArchive.read(folder.resolve("gesture-mlf.tar"));
        assertThat(archive.models()).singleElement().satisfies(model -> {
            assertThat(model.target()).contains("-mcpu=cortex-m4");
            assertThat(model.operators()).isNotEmpty().allMatch(name -> name.startsWith("tvmgen_gesture_"));
            assertThat(model.inputs().get(0).bytes())
                    .isEqualTo((int) Files.size(GestureProject.VECTORS.resolve("input_0.bin")));
        });
        assertThat(archive.files()).contains("codegen/host/src/gesture_lib1.c");
        assertThat(new String(archive.content("metadata.json"), StandardCharsets.UTF_8))
                .contains("gesture");
    }

    @Test
    void everyProblemHasItsParts() {
        assertThatThrownBy(() -> ModelCompilation.of(folder.resolve("none.tflite"))
                        .name("9")
                        .compile())
                .isInstanceOfSatisfying(
                        KilnFailure.class,
                        failure -> assertThat(failure.problems()).allSatisfy(problem -> {
                            assertThat(problem.id()).startsWith("KILN-");
                            assertThat(problem.what()).isNotEmpty();
                        }));
    }

    @Test
    void firmwareAnswersOverRpc() throws Exception {
        TestPrograms.need("qemu-system-arm");
        assertThat(run("BuildAndRun", folder, localRepository())).contains("4 bytes\nmeasured\n");
        assertThat(folder.resolve("out/kiln/verify.json")).content().contains("\"bitExact\" : true");
    }

    @Test
    void aModelRunsHere() throws Exception {
        TestPrograms.need("cc");
        Path library = new LibraryExport(
                        Log.QUIET,
                        new GestureProject(folder).spec("host").build(),
                        TestToolchains.environment(Log.QUIET),
                        false)
                .run()
                .get(0);
        assertThat(run("RunHere", library)).contains(": 4 bytes");
    }

    /** A local repository with the bundled compiler, beside the folder where it is unpacked. */
    private Path localRepository() throws IOException {
        Path jar = Arrays.stream(System.getProperty("java.class.path").split(Pattern.quote(File.pathSeparator), -1))
                .map(Path::of)
                .filter(file -> file.getFileName().toString().matches("llvm-[0-9].*-(linux|macosx)-[a-z0-9_]+\\.jar"))
                .findFirst()
                .orElseThrow();
        // Unpacks the compiler if no test has done it yet.
        TestToolchains.resolve("clang", "c -mcpu=cortex-m3");
        Files.createSymbolicLink(
                folder.resolve("kiln"), TestToolchains.environment(Log.QUIET).home());
        Path repository = folder.resolve("repository");
        String version = jar.getParent().getFileName().toString();
        Path copy = repository.resolve("org/bytedeco/llvm").resolve(version).resolve(jar.getFileName());
        Files.createDirectories(copy.getParent());
        Files.createSymbolicLink(copy, jar);
        return repository;
    }
}
