// SPDX-License-Identifier: Apache-2.0
package io.kiln.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.flow.GestureProject;
import io.kiln.process.KeptPrograms;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs the commands of the pages with the real Maven: those of a page one after the other, in a project like the page's. Takes ten minutes; {@link
 * DocBlocksTest} sees in every build that commands are run here or say why not, and {@code DocumentedNamesTest} that they can be typed.
 *
 * <p>The project is the example, with files of the names that pages use. A block may be {@code as: src/it/…}, another project; {@code as: a project
 * with the properties above}, those of the last XML above it; or {@code as: commands that fail}.
 */
@EnabledIfSystemProperty(named = "kiln.golden", matches = "all")
@NeedsShared({"golden", "ethosu", "models-more", "tvm"})
final class ShellBlocksTest {
    private static final String PROPERTIES = "a project with the properties above";
    private static final String FAILING = "commands that fail";
    /** The project's file that a block adds properties to. */
    private static final String END = "</properties>";

    @TempDir
    private static Path shared;

    @TempDir
    private Path folder;

    private static RealMaven maven;

    @BeforeAll
    static void install() throws IOException {
        TestPrograms.need("qemu-system-arm", "openocd");
        maven = RealMaven.in(shared);
        maven.install();
    }

    /** Those that the property names, or all. */
    static List<String> pages() {
        String asked = System.getProperty("kiln.pages", "");
        return DocBlock.of("sh").stream()
                .filter(DocBlock::isToRun)
                .map(DocBlock::page)
                .distinct()
                .filter(page -> asked.isEmpty() || List.of(asked.split(",", -1)).contains(page))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void theCommandsOfAPageDoWhatItSays(String page) throws IOException {
        Path project = example();
        List<String> wrong = new ArrayList<>();
        String properties = "";
        for (DocBlock block : DocBlock.of("sh", "xml")) {
            if (!block.page().equals(page)) {
                continue;
            }
            if (block.language().equals("xml")) {
                properties = block.text().startsWith("<properties>") ? block.text() : properties;
            } else if (block.isToRun()) {
                wrong.addAll(run(block, place(block, project, properties)));
            }
        }
        assertThat(wrong).isEmpty();
    }

    /** What a newcomer types first, in a copy of this checkout: each line counts. */
    @Test
    void theQuickstartSaysWhatItMadeAndLittleElse() throws IOException {
        String home = " -Dtest.home=" + KeptPrograms.folder().resolve("home");
        ProcessResult result =
                maven.run("mvn -Dsetup.skip -Pquickstart verify" + home, RealMaven.checkout(folder.resolve("kiln")));
        assertThat(result.exitCode()).as(result.message()).isZero();
        assertThat(result.output().lines())
                .hasSizeLessThanOrEqualTo(40)
                .anyMatch(
                        line -> line.contains("Installing ") && line.contains("/repository/io/kiln/kiln-maven-plugin/"))
                .anyMatch(line -> line.contains("Bit-exact on qemu-system-arm mps2-an386: 6 cases, 24 outputs"))
                .noneMatch(line -> line.contains("WARNING"));
    }

    /** What went wrong, with the last lines that were printed. */
    private List<String> run(DocBlock block, Path project) {
        ProcessResult result = maven.run(block.text(), project);
        boolean isToFail = block.as().filter(FAILING::equals).isPresent();
        if ((result.exitCode() != 0) == isToFail) {
            return List.of();
        }
        List<String> lines = result.message().lines().toList();
        return List.of(block.where() + "\n" + block.text()
                + String.join("\n", lines.subList(Math.max(0, lines.size() - 30), lines.size())));
    }

    private Path place(DocBlock block, Path project, String properties) throws IOException {
        Optional<String> as = block.as();
        if (as.filter(each -> each.startsWith("src/it/")).isPresent()) {
            return RealMaven.copy(Path.of(as.get()), folder.resolve("as"));
        }
        if (as.filter(PROPERTIES::equals).isPresent()) {
            assertThat(properties).as(block.where()).isNotEmpty();
            Path pom = project.resolve("pom.xml");
            String own = properties.replace("<properties>", "").replace(END, "");
            String text = Files.readString(pom);
            String known =
                    own.lines().filter(line -> text.contains(line)).findFirst().orElse("");
            if (known.isBlank()) {
                // The last of two values of a name counts.
                Files.writeString(pom, text.replaceAll(" *<kiln.board>.*\n", "").replace(END, own + END));
            }
        }
        return project;
    }

    /** The example, beside files of the names that commands have. */
    private Path example() throws IOException {
        Path project = RealMaven.copy(Path.of("src/it/quickstart"), folder.resolve("project"));
        // Vectors are of one model, and commands name others.
        Path pom = project.resolve("pom.xml");
        Files.writeString(pom, Files.readString(pom).replaceAll(" *<kiln.verify.vectors>.*\n", ""));
        Path golden = SharedFolder.need("golden");
        Map<String, Path> files = Map.of(
                "net.tflite", golden.resolve("hello_world_float/model.tflite"),
                "keywords.tflite", golden.resolve("kws_ref_model/model.tflite"),
                "kws_ref_model.tflite", golden.resolve("kws_ref_model/model.tflite"),
                "keywords_vela.tflite", SharedFolder.need("ethosu").resolve("kws_ref_model-u55-128.tflite"),
                "gestures.onnx", SharedFolder.need("models-more").resolve("ml10_forest_3class/model.onnx"),
                "model.tar", SharedFolder.need("tvm").resolve("hello_world_int8__aot_c_nousmp.tar"));
        for (Map.Entry<String, Path> file : files.entrySet()) {
            Files.copy(file.getValue(), project.resolve(file.getKey()));
        }
        for (String name : List.of("model", "gesture", "kws")) {
            Files.copy(GestureProject.MODEL, project.resolve(name + ".tflite"));
        }
        for (Map.Entry<String, String> vectors : Map.of("samples", "hello_world_float", "vectors", "hello_world_int8")
                .entrySet()) {
            Path into = Files.createDirectories(project.resolve(vectors.getKey()));
            try (Stream<Path> all = Files.list(golden.resolve(vectors.getValue()))) {
                for (Path file :
                        all.filter(each -> each.toString().endsWith(".bin")).toList()) {
                    Files.copy(file, into.resolve(file.getFileName()));
                }
            }
        }
        return project;
    }
}
