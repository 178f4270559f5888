// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.flow.GestureProject;
import io.kiln.flow.export.SourceExport.SourceForm;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.reference.OwnModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two exported libraries in one program: no header of one hides one of the other, no function is there twice, and both answer right. */
final class TwoLibrariesTest {
    /** What the CMakeLists.txt of a module and of a component call, as far as they use it; the archives are linked whole, as Zephyr does. */
    private static final String SYSTEMS = """
        function(zephyr_interface_library_named name)
          add_library(${name} INTERFACE)
        endfunction()
        macro(zephyr_library_named name)
          set(ZEPHYR_CURRENT_LIBRARY ${name})
          add_library(${name} STATIC "")
          set_property(GLOBAL APPEND PROPERTY ZEPHYR_LIBS ${name})
        endmacro()
        function(zephyr_library_link_libraries)
          target_link_libraries(${ZEPHYR_CURRENT_LIBRARY} PUBLIC ${ARGN})
        endfunction()
        function(zephyr_library_sources)
          target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
        endfunction()
        function(zephyr_library_compile_options)
          target_compile_options(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
        endfunction()
        macro(idf_component_register)
          cmake_parse_arguments(PART "" "" "SRCS;INCLUDE_DIRS;REQUIRES" ${ARGN})
          get_filename_component(COMPONENT_LIB ${CMAKE_CURRENT_SOURCE_DIR} NAME)
          add_library(${COMPONENT_LIB} STATIC ${PART_SRCS})
          target_include_directories(${COMPONENT_LIB} PUBLIC ${PART_INCLUDE_DIRS})
        endmacro()
        """;

    private static final String MAIN = """
        #include <kiln_gesture.h>
        #include <kiln_wave.h>
        #include <stdio.h>
        int proof_gesture(void);
        int proof_wave(void);
        int main(void) {
          printf("%d %d", proof_gesture(), proof_wave());
          return tvmgen_gesture_run == 0 || tvmgen_wave_run == 0;
        }
        """;

    @TempDir
    private Path folder;

    @BeforeEach
    void program() throws IOException {
        Files.writeString(folder.resolve("main.c"), MAIN);
    }

    private Path export(SourceForm form, Path model, String name) {
        Layout layout = new Layout(folder, folder.resolve("out"), name);
        return SourceExport.of(
                        Log.QUIET,
                        SpecDraft.of(layout, List.of(new ModelSource(model, name)), "host")
                                .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 2, 7))
                                .build(),
                        form.text(),
                        "1.2.0")
                .run();
    }

    private List<Path> libraries(SourceForm form) {
        return List.of(export(form, GestureProject.MODEL, "gesture"), export(form, OwnModel.SINE.model(), "wave"));
    }

    @ParameterizedTest
    @EnumSource(SourceForm.class)
    void bothAnswerInOneProgram(SourceForm form) throws IOException {
        List<Path> libraries = libraries(form);
        assertThat(headers(form, libraries.get(0))).doesNotContainAnyElementsOf(headers(form, libraries.get(1)));
        switch (form) {
            case CMAKE -> cmake(libraries, "", "kiln::kiln_gesture kiln::kiln_wave");
            case ZEPHYR ->
                cmake(
                        libraries,
                        "set(CONFIG_KILN_GESTURE y)\nset(CONFIG_KILN_WAVE y)\n" + SYSTEMS,
                        "kiln_gesture kiln_wave -Wl,--whole-archive kiln_gesture_code kiln_wave_code"
                                + " -Wl,--no-whole-archive");
            case ESP_IDF -> cmake(libraries, SYSTEMS, "kiln_gesture kiln_wave");
            default -> objects(form, libraries);
        }
        assertThat(run(folder, folder.resolve("app").toString())).isEqualTo("0 0");
    }

    /** Every name by which a header can be included. */
    private static Set<String> headers(SourceForm form, Path library) throws IOException {
        Path include = library.resolve(form.headers());
        try (Stream<Path> files = Files.walk(include)) {
            return files.filter(file -> file.toString().endsWith(".h"))
                    .map(file -> include.relativize(file).toString())
                    .collect(Collectors.toSet());
        }
    }

    /** All objects are linked, as Arduino and IDEs do; each is compiled with the folders of both, the other's first. */
    private void objects(SourceForm form, List<Path> libraries) throws IOException {
        List<String> link = new ArrayList<>(List.of("cc", "-o", "app", "main.c", "-lm"));
        for (Path library : libraries) {
            Path other = libraries.get(1 - libraries.indexOf(library));
            String name = library.getFileName().toString();
            Path to = Files.createDirectories(folder.resolve("objects").resolve(name));
            List<String> line = new ArrayList<>(List.of("cc", "-std=gnu11", "-ffp-contract=off", "-c"));
            line.addAll(List.of("-I" + other.resolve(form.headers()), "-I" + library.resolve(form.headers())));
            line.addAll(renamed(name));
            line.add(library.resolve(form.proof()).resolve("kiln_proof.c").toString());
            list(library.resolve(form.sources()), ".c").forEach(line::add);
            run(to, line.toArray(String[]::new));
            list(to, ".o").forEach(link::add);
            link.add("-I" + library.resolve(form.headers()));
        }
        run(folder, link.toArray(String[]::new));
    }

    private static List<String> renamed(String library) {
        String name = library.substring("kiln_".length());
        return List.of("-Dkiln_proof=proof_" + name, "-Dkiln_proof_cases=cases_" + name);
    }

    private void cmake(List<Path> libraries, String before, String links) throws IOException {
        StringBuilder text = new StringBuilder("cmake_minimum_required(VERSION 3.16)\nproject(two C ASM)\n" + before);
        StringBuilder proofs = new StringBuilder();
        for (Path library : libraries) {
            text.append("add_subdirectory(out/export/" + library.getParent().getFileName() + "/" + library.getFileName()
                    + ")\n");
            Path proof = Files.createDirectories(folder.resolve("proof/" + library.getFileName()));
            for (String file : List.of("kiln_proof.c", "kiln_proof.h")) {
                Path from = Stream.of(SourceForm.CMAKE, SourceForm.ZEPHYR, SourceForm.ESP_IDF)
                        .map(form -> library.resolve(form.proof()).resolve(file))
                        .filter(Files::exists)
                        .findFirst()
                        .orElseThrow();
                Files.copy(from, proof.resolve(file));
            }
            proofs.append(" proof/" + library.getFileName() + "/kiln_proof.c");
        }
        text.append("add_executable(app main.c" + proofs + ")\n");
        for (Path library : libraries) {
            String name = library.getFileName().toString();
            text.append("set_source_files_properties(proof/" + name + "/kiln_proof.c PROPERTIES COMPILE_OPTIONS \""
                    + String.join(";", renamed(name)) + "\")\n");
        }
        text.append("target_link_libraries(app PRIVATE " + links + " m)\n");
        Files.writeString(folder.resolve("CMakeLists.txt"), text);
        run(folder, "cmake", "-S", ".", "-B", ".", "-DCMAKE_C_COMPILER_WORKS=1");
        run(folder, "cmake", "--build", ".", "--target", "app", "-j2");
    }

    /** Versions are those of CMake: the same first number, and not older. */
    @Test
    void cmakeFindsInstalledLibrariesByTheirVersions() throws IOException {
        for (Path library : libraries(SourceForm.CMAKE)) {
            Path build = folder.resolve("build-" + library.getFileName());
            run(library, "cmake", "-S", ".", "-B", build.toString(), "-DCMAKE_INSTALL_PREFIX=" + folder.resolve("usr"));
            run(build, "cmake", "--build", ".", "-j2");
            run(build, "ctest");
            run(build, "cmake", "--install", ".");
        }
        Files.writeString(
                folder.resolve("main.c"), MAIN.replace("proof_gesture()", "0").replace("proof_wave()", "0"));
        Files.writeString(folder.resolve("CMakeLists.txt"), """
            cmake_minimum_required(VERSION 3.16)
            project(app C)
            find_package(kiln_gesture 1.1 REQUIRED)
            find_package(kiln_wave 1.2.0 EXACT REQUIRED)
            foreach(refused 1.3 2.0 0.9)
              find_package(kiln_gesture ${refused} QUIET)
              if(kiln_gesture_FOUND)
                message(FATAL_ERROR "1.2.0 is not ${refused}")
              endif()
            endforeach()
            add_executable(app main.c)
            target_link_libraries(app PRIVATE kiln::kiln_gesture kiln::kiln_wave)
            """);
        run(folder, "cmake", "-S", ".", "-B", ".", "-DCMAKE_PREFIX_PATH=" + folder.resolve("usr"));
        run(folder, "cmake", "--build", ".");
        assertThat(run(folder, folder.resolve("app").toString())).isEqualTo("0 0");
    }

    private static Stream<String> list(Path folder, String end) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(Path::toString).filter(name -> name.endsWith(end)).sorted().toList().stream();
        }
    }

    private static String run(Path in, String... words) {
        ProcessResult result = ProcessRunner.run(Command.ofLine(List.of(words)).in(in));
        assertThat(result.succeeded())
                .as("%s: %s", String.join(" ", words), result.output())
                .isTrue();
        return result.output();
    }
}
