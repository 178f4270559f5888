// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.projectapi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.device.projectapi.ProjectServer;
import io.kiln.device.projectapi.ProjectServer.OpenedTransport;
import io.kiln.device.projectapi.ProjectServer.ServerLimits;
import io.kiln.device.rpc.client.AotExecutor;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.transport.Transport;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kiln's Project API client drives Kiln's own server, as a process that the template's launcher starts. */
final class KilnServesProjectsTest {
    private static final String MODEL = "hello_world_int8";
    private static final Map<String, String> OPTIONS = Map.of("board", "host", "project_type", "host_driven");

    @TempDir
    private Path folder;

    private Path template;

    @BeforeEach
    void writeTemplate() {
        KeptLog log = new KeptLog();
        template = folder.resolve("template");
        new TemplateStep(log, TestToolchains.environment(log))
                .write(new GestureProject(folder).spec("host").build(), template, classPath());
        assertThat(log.said()).hasSize(1).first().asString().startsWith("Wrote the template " + template);
    }

    @Test
    @NeedsShared("tvm")
    void anArchiveThatTvmWroteAnswersAsTvmDoes() throws IOException {
        Path project = folder.resolve("project");
        try (ProjectServer server = start(template)) {
            assertThat(server.info().platform()).isEqualTo("kiln");
            assertThat(server.info().isTemplate()).isTrue();
            Map<String, String> options = new TreeMap<>(OPTIONS);
            options.put("compile_definitions", "-DKILN_THREE=3 KILN_SET");
            options.put("warning_as_error", "true");
            options.put("extra_files_tar", extraFiles().toString());
            server.generate(SharedFolder.need("tvm").resolve(MODEL + "__aot_packed.tar"), folder, project, options);
        }
        try (ProjectServer server = start(project)) {
            assertThat(server.info().isTemplate()).isFalse();
            assertThat(server.info().archive())
                    .contains(project.toRealPath().resolve("model.tar").toString());
            refusals(server);
            server.build(Map.of());
            assertThat(project.resolve("build/firmware/main/extra.c")).isRegularFile();
            server.flash(Map.of());
            answersBitExact(server.openTransport(Map.of()));
            // Again, with a fresh start of the image.
            answersBitExact(server.openTransport(Map.of()));
        }
    }

    /** C that compiles only with the macros. */
    private Path extraFiles() throws IOException {
        Path tar = folder.resolve("extra.tar");
        byte[] text = """
            #if KILN_THREE != 3 || !defined(KILN_SET)
            #error the macros are missing
            #endif
            int extra(void);
            int extra(void) {
              return KILN_THREE;
            }
            """.getBytes(StandardCharsets.UTF_8);
        try (TarArchiveOutputStream out =
                new TarArchiveOutputStream(Files.newOutputStream(tar), StandardCharsets.UTF_8.name())) {
            TarArchiveEntry entry = new TarArchiveEntry("./src/main/c/extra.c");
            entry.setSize(text.length);
            out.putArchiveEntry(entry);
            out.write(text);
            out.closeArchiveEntry();
        }
        return tar;
    }

    private static void refusals(ProjectServer server) {
        assertThatThrownBy(() -> server.flash(Map.of()))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("calling method flash")
                .hasMessageContaining("nothing was built");
        assertThatThrownBy(() -> server.build(Map.of("board", "mps2-an386")))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the project was generated with other values of board")
                .hasMessageContaining("\"host\"");
    }

    private static void answersBitExact(OpenedTransport opened) throws IOException {
        try (Transport line = opened.transport();
                RpcClient client = RpcClient.connect(line, opened.timeouts(), text -> {});
                AotExecutor model = AotExecutor.create(client, client.systemLibrary(), "default")) {
            Path vectors = SharedFolder.need("tvm").resolve("vectors").resolve(MODEL);
            for (int k = 0; k < 3; k++) {
                assertThat(model.run(List.of(read(vectors.resolve("input_" + k + ".bin")))))
                        .containsExactly(read(vectors.resolve("output_" + k + ".bin")));
            }
        }
    }

    /** The board's own description names the server; Kiln flashes by it and verifies over its line. */
    @Test
    void aBoardIsFlashedAndVerifiedByItsServer() throws IOException {
        Path board = folder.resolve("src/main/boards/theirs/board.yaml");
        Files.createDirectories(board.getParent());
        Files.writeString(board, """
            schema: 1
            id: theirs
            title: This computer, through a Project API server
            extends: host
            flash:
              projectApi:
                directory: template
                options: {board: host, project_type: host_driven}
            """);
        BuildSpec spec = new GestureProject(folder)
                .spec("theirs")
                .application("rpc")
                .calls(Optional.empty(), true, Optional.empty(), false)
                .verify(new VerifySpec(VerifyOn.BOARD, Optional.of(GestureProject.VECTORS), 1, 0).with(VerifyOver.RPC))
                .build();
        KeptLog log = new KeptLog();
        new Flow(log, TestToolchains.environment(log)).build(spec, DeviceSpec.USUAL);

        JsonNode verified = new GestureProject(folder).json("kiln/verify.json");
        assertThat(verified.path("bitExact").asBoolean()).isTrue();
        assertThat(verified.path("cases")).hasSize(5);
        assertThat(verified.path("ranOn").asText()).isEqualTo("theirs, Project API server in template");
        JsonNode flashed = new GestureProject(folder).json("kiln/flash.json").get(0);
        assertThat(flashed.path("result").asText()).isEqualTo("flashed");
        assertThat(flashed.at("/image/file").asText()).isEqualTo("model-mlf.tar");
        assertThat(folder.resolve("out/kiln/board-project/model.tar"))
                .hasSameBinaryContentAs(folder.resolve("out/generated-sources/kiln/model-mlf.tar"));
    }

    @Test
    @NeedsShared("tvm")
    void whatCannotBeGeneratedLeavesNothingBehind() throws IOException {
        Path project = folder.resolve("none");
        Path broken = Files.writeString(folder.resolve("broken.tar"), "no tar");
        Path typed = SharedFolder.need("tvm").resolve("kws_ref_model__aot_c_usmp.tar");
        Map<String, String> flags =
                Map.of("board", "host", "project_type", "host_driven", "compile_definitions", "A=1 -DB=\"x y\"");
        try (ProjectServer server = start(template)) {
            assertThatThrownBy(() -> server.generate(typed, folder, project, OPTIONS))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining(
                            "model `default` has the C interface, whose functions an RPC server cannot call");
            assertThatThrownBy(() -> server.generate(typed, folder, project, flags))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("the compiler flag -DB=\"x");
            assertThatThrownBy(() -> server.generate(broken, folder, project, OPTIONS))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("calling method generate_project")
                    .hasMessageContaining("broken.tar");
            assertThat(project).doesNotExist();
        }
    }

    /** The answers that the scenario with a client in Python expects are those of the reference. */
    @Test
    void theScenariosAnswersAreThoseOfTheReference() throws IOException {
        Function model = TfliteFrontend.read(read(GestureProject.MODEL), "gesture.tflite", "gesture");
        Path expected = Path.of("src", "it", "a-python-client-drives-a-project", "expected");
        for (int k = 0; k < 4; k++) {
            Bytes input = read(GestureProject.VECTORS.resolve("input_" + k + ".bin"));
            assertThat(Interpreter.run(model, List.of(input)))
                    .containsExactly(read(expected.resolve("output_" + k + ".bin")));
        }
    }

    private ProjectServer start(Path server) {
        return ProjectServer.start(server, ServerLimits.DEFAULT, Optional.of(folder.resolve("server.log")));
    }

    private static Bytes read(Path file) throws IOException {
        return Bytes.wrap(Files.readAllBytes(file));
    }

    private static List<Path> classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of)
                .toList();
    }
}
