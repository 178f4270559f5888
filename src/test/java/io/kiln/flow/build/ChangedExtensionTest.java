// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Extensions;
import io.kiln.base.KeptLog;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Code generators of others are an input of the generated C: their jars, or their folders of classes. */
final class ChangedExtensionTest {
    private static final String SERVICE = "META-INF/services/io.kiln.partition.ExternalCodegen";
    private static final String CODEGEN = """
        package com.example;
        import io.kiln.artifact.*;
        import io.kiln.partition.*;
        import io.kiln.target.*;
        import java.util.List;
        public final class Npu implements ExternalCodegen {
            public String name() { return "npu"; }
            public List<CompositePattern> patterns(CompositeTarget.External external, Target host) {
                return List.of(new CompositePattern("npu.dense", List.of(PatternStep.named("qnn.dense"),
                        PatternStep.named("nn.bias_add").orNone(), PatternStep.named("tfl.requantize")), List.of()));
            }
            public ExternalCall call(ExternalFunction function, CompositeTarget.External external, Target host) {
                return ExternalCall.plain("npu");
            }
            public List<Artifact> generate(ExternalUnit unit) {
                StringBuilder text = new StringBuilder("// VERSION\\n");
                unit.functions().forEach(f -> text.append("int32_t " + f.symbol() + "(const int8_t* in, int8_t* out)\\n{}\\n"));
                return List.of(Artifact.ofText("npu", ArtifactKind.SOURCE, unit.file() + ".c", text.toString()));
            }
        }
        """;

    @TempDir
    Path folder;

    @Test
    void anotherJarMakesOtherC() throws Exception {
        Path jar = folder.resolve("npu.jar");
        jar(jar, classes("first"));
        assertThat(generated(jar)).noneMatch(line -> line.startsWith("Generating C"));
        assertThat(generated(jar)).containsExactly("Generating C: nothing changed");
        jar(jar, classes("second"));
        assertThat(generated(jar).get(0)).isEqualTo("Generating C: extensions[0] npu.jar changed");
        Path c = folder.resolve("project/out/generated-sources/kiln/codegen/host/src/gesture_lib2.c");
        assertThat(c).content().contains("// second");
    }

    /** Generates as Maven does: each build loads the plugin and what it depends on anew. */
    private List<String> generated(Path jar) throws Exception {
        try (URLClassLoader loader = loader(List.of(jar))) {
            Object said = loader.loadClass(Generator.class.getName())
                    .getMethod("generate", Path.class)
                    .invoke(null, folder.resolve("project"));
            return ((List<?>) said).stream().map(String::valueOf).toList();
        }
    }

    /** A loader of everything, Kiln included. */
    private static URLClassLoader loader(List<Path> more) {
        Stream<Path> own = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(Path::of);
        URL[] urls =
                Stream.concat(own, more.stream()).map(ChangedExtensionTest::url).toArray(URL[]::new);
        return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
    }

    private static URL url(Path file) {
        try {
            return file.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What is loaded anew. */
    public static final class Generator {
        private Generator() {}

        /** Generates C with the code generator, and returns what was said. */
        public static List<String> generate(Path project) {
            KeptLog log = new KeptLog();
            BuildSpec spec = new GestureProject(project)
                    .spec("mps2-an386")
                    .codegens(new CodegenSpec(
                            Optional.of("npu, c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=mps2-an386"),
                            Optional.empty()))
                    .verify(GestureProject.UNVERIFIED)
                    .build();
            new Flow(log, TestToolchains.environment(log)).generate(spec);
            return log.said();
        }
    }

    @Test
    void foldersOfClassesAndWhatServicesMayUseCountToo() throws IOException {
        Path classes = classes("first");
        Path library = folder.resolve("library.jar");
        jar(library, folder.resolve("nothing"));
        Map<String, String> before = code(classes, library);
        assertThat(code(classes, library)).isEqualTo(before);
        Files.writeString(classes.resolve("com/example/Npu.class"), "other");
        Map<String, String> after = code(classes, library);
        assertThat(after).isNotEqualTo(before);
        Files.writeString(library, "other");
        assertThat(code(classes, library)).isNotEqualTo(after);
        Files.delete(classes.resolve(SERVICE));
        assertThat(code(classes, library)).as("no service of others").isEqualTo(Map.of("", "[]"));
    }

    private static Map<String, String> code(Path... others) throws IOException {
        URL[] urls = Stream.of(others).map(ChangedExtensionTest::url).toArray(URL[]::new);
        try (URLClassLoader loader = new URLClassLoader(urls, Extensions.class.getClassLoader())) {
            return Fingerprint.of("generate").value("", Extensions.code(loader)).parts();
        }
    }

    private Path classes(String version) throws IOException {
        Path source = Files.writeString(folder.resolve("Npu.java"), CODEGEN.replace("VERSION", version));
        Path classes = folder.resolve("classes");
        Files.createDirectories(classes.resolve(SERVICE).getParent());
        Files.writeString(classes.resolve(SERVICE), "com.example.Npu\n");
        int failures = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", "-d", classes.toString(), source.toString());
        assertThat(failures).isZero();
        return classes;
    }

    private static void jar(Path jar, Path classes) throws IOException {
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream zip = new JarOutputStream(out)) {
            for (Path file : Fingerprint.filesBelow(classes)) {
                zip.putNextEntry(
                        new JarEntry(classes.relativize(file).toString().replace('\\', '/')));
                zip.write(Files.readAllBytes(file));
                zip.closeEntry();
            }
        }
    }
}
