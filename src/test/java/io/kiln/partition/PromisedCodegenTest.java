// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Extensions;
import io.kiln.base.JavaSources;
import io.kiln.base.KilnException;
import io.kiln.compile.CodeTarget;
import io.kiln.compile.CodeTarget.MemoryPools;
import io.kiln.compile.CompileOptions;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompileRequest.ModelInput;
import io.kiln.compile.ModelCompiler;
import io.kiln.target.CompositeTarget;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The code generator that the page "Your accelerator in Kiln" shows sees nothing of Kiln but the interface that lasts. */
class PromisedCodegenTest {
    private static final Path EXAMPLE =
            Path.of("src", "it", "an-accelerator-of-your-own-takes-convolutions", "codegen", "src", "main");
    private static final Path MODEL = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");

    @TempDir
    private Path folder;

    private URLClassLoader services;

    @BeforeEach
    void compiledAgainstTheInterfaceAlone() throws IOException {
        Path classes = folder.resolve("classes");
        JavaSources.compile(JavaSources.promised(folder.resolve("spi")), classes, JavaSources.below(EXAMPLE));
        try (Stream<Path> files = Files.walk(EXAMPLE.resolve("resources"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path copy = classes.resolve(EXAMPLE.resolve("resources").relativize(file));
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            }
        }
        services = new URLClassLoader(
                new URL[] {classes.toUri().toURL()}, getClass().getClassLoader());
    }

    @AfterEach
    void close() throws IOException {
        services.close();
    }

    private Externals externals(String target) {
        return Externals.of(CompositeTarget.parse(target), List.of(), services);
    }

    @Test
    void itTakesItsLayersAndGeneratesTheirFunctions() {
        CodeTarget target = new CodeTarget(
                externals("vecu -lanes=8, c -keys=arm_cpu,cpu -mcpu=cortex-m4"), MemoryPools.GLOBAL, Optional.empty());
        ModelLibrary library = ModelCompiler.compile(new CompileRequest(
                        new ModelInput(MODEL, "gesture"), target, CompileOptions.DEFAULT, Optional.empty()))
                .library();
        assertThat(library.metadata().operators())
                .filteredOn(operator -> operator.choice().codegen().name().equals("vecu"))
                .hasSize(2)
                .allSatisfy(operator -> assertThat(operator.workspaceBytes()).isPositive());
        assertThat(library.metadata().operators())
                .extracting(operator -> operator.choice().codegen().stayed())
                .contains("vecu.conv2d: the unit has no groups");
        assertThat(library.artifacts().artifacts())
                .filteredOn(file -> file.targetKey().equals("vecu"))
                .extracting(Artifact::fileName)
                .containsExactly("gesture_lib2.c", "vecu.h", "gesture_lib2.vcs");
        assertThat(library.artifacts().artifacts())
                .filteredOn(file -> file.fileName().equals("gesture_lib2.c"))
                .singleElement()
                .satisfies(file -> assertThat(file.text())
                        .contains("int32_t tvmgen_gesture_vecu_main_0(const int8_t* input_, const int8_t* filter_,"
                                + " const int32_t* bias_, const int32_t* multiplier_, const int32_t* shift_,"
                                + " int8_t* output_, uint8_t* context_, void* device_) {"));
    }

    @Test
    void wrongOptionsAreToldWithThePartOfTheTarget() {
        assertThatThrownBy(() -> externals("vecu -lanes=17, c"))
                .isInstanceOf(KilnException.class)
                .hasMessage("vecu -lanes=17: these are no options of the vector unit; expected -lanes=1 to 16.");
    }

    /** The example has no service of a type that promises nothing; those that have are told. */
    @Test
    void servicesOfTypesThatPromiseNothingAreTold() throws IOException {
        assertThat(Extensions.outdated(services)).isEmpty();
        Path old = folder.resolve("classes/META-INF/services/" + ExternalCodegen.class.getName());
        Files.writeString(old, "");
        assertThat(Extensions.outdated(services))
                .containsExactly("classes has a service of io.kiln.partition.ExternalCodegen, which may change in any"
                        + " version; io.kiln.spi.CodeGenerator lasts");
    }
}
