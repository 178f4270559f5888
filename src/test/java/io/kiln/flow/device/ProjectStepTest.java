// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.device.projectapi.MethodFailure;
import io.kiln.firmware.TrustedArchives;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.ProjectSpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With a template whose server is a Python program. */
final class ProjectStepTest {
    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @BeforeEach
    void writeTemplate() throws IOException {
        Path template = Files.createDirectory(folder.resolve("template"));
        try (InputStream server = MethodFailure.class.getResourceAsStream("microtvm_api_server.py")) {
            Files.copy(server, template.resolve("microtvm_api_server.py"));
        }
    }

    @Test
    void aModelBecomesAProjectOfSomebodyElse() throws IOException {
        BuildSpec spec = new GestureProject(folder).gnu("mps2-an386");
        flow.project(spec, project("project", "template", "board=echo", false));
        Path project = folder.resolve("project");
        Path archive = folder.resolve("out/generated-sources/kiln/model-mlf.tar");
        assertThat(project.resolve("model.tar")).hasSameBinaryContentAs(archive);
        assertThat(project.resolve("crt/include/tvm/runtime/c_runtime_api.h")).isRegularFile();
        assertThat(project.resolve("built")).isRegularFile();
        assertThat(project.resolve("flashed")).doesNotExist();

        BuildSpec noModel = SpecDraft.of(spec.layout(), List.of(), "mps2-an386").build();
        flow.project(noModel, project("project", "", "verbose=true", true));
        assertThat(project.resolve("flashed")).content().contains("\"verbose\": true");
        assertThat(log.said())
                .containsSubsequence(
                        "Generated " + project + " from the template of platform echo",
                        "Built " + project,
                        "Built " + project,
                        "Flashed the board of " + project);
        assertThatThrownBy(() -> flow.project(spec, project("project", "template", "board=echo", true)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the project exists already");
        assertThat(project.resolve("model.tar")).exists();

        cOfStrangersNeedsTrust(Files.copy(archive, folder.resolve("theirs.tar")));
    }

    private void cOfStrangersNeedsTrust(Path archive) {
        Layout layout = new Layout(folder, folder.resolve("out2"), "theirs");
        BuildSpec spec = SpecDraft.of(layout, List.of(new ModelSource(archive, "default")), "mps2-an386")
                .toolchain(Optional.of("gnu"))
                .build();
        ProjectSpec project = project("theirs", "template", "board=echo", false);
        assertThatThrownBy(() -> flow.project(spec, project))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the C of an archive that is not trusted would be compiled unchecked")
                .hasMessageContaining("<trustArchive>sha256:");
        assertThat(project.directory()).doesNotExist();
        BuildSpec trusting = SpecDraft.of(layout, spec.models(), "mps2-an386")
                .toolchain(Optional.of("gnu"))
                .trustedArchives(TrustedArchives.parse("theirs.tar"))
                .build();
        flow.project(trusting, project);
        assertThat(project.directory().resolve("model.tar")).hasSameBinaryContentAs(archive);
    }

    @Test
    void aProjectIsGeneratedWholeOrNotAtAll() throws IOException {
        Files.writeString(folder.resolve("template/fault"), "die generate_project");
        BuildSpec spec = new GestureProject(folder).gnu("mps2-an386");
        assertThatThrownBy(() -> flow.project(spec, project("project", "template", "board=echo", false)))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("template, generate_project: the server ended without an answer")
                .hasMessageContaining("segmentation fault");
        assertThat(folder.resolve("project")).doesNotExist();
        assertThat(folder.resolve("out/kiln/project-template.log")).content().contains("segmentation fault");
    }

    @Test
    void optionsAreSeparatedByCommas() {
        assertThat(ProjectSpec.options(" a=1, b_2=x=y,z,\nc=,compile_definitions=-DA=1,-DB=2"))
                .isEqualTo(Map.of("a", "1", "b_2", "x=y,z", "c", "", "compile_definitions", "-DA=1,-DB=2"));
        assertThat(ProjectSpec.options("")).isEmpty();
        assertThatThrownBy(() -> ProjectSpec.options("board,a=1,a=2"))
                .hasMessageContaining("'board' is not an option")
                .hasMessageContaining("'a=2' is a second value");
    }

    private ProjectSpec project(String name, String template, String options, boolean flash) {
        return new ProjectSpec(
                folder.resolve(name),
                Optional.of(template).filter(text -> !text.isEmpty()).map(folder::resolve),
                Optional.empty(),
                ProjectSpec.options(options),
                flash,
                Duration.ofMinutes(1));
    }
}
