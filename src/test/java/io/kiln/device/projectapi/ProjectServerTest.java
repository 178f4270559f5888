// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.projectapi.ProjectServer.OpenedTransport;
import io.kiln.device.projectapi.ProjectServer.ProjectTransport;
import io.kiln.device.projectapi.ProjectServer.ServerLimits;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.TimedBytes;
import io.kiln.device.transport.TimedInput;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against a server in Python, which behaves, or does not. */
final class ProjectServerTest {
    private static final ServerLimits LIMITS = new ServerLimits(Duration.ofSeconds(20), Duration.ofSeconds(20));
    private static final ServerLimits SHORT = new ServerLimits(Duration.ofSeconds(20), Duration.ofMillis(100));

    @TempDir
    private Path folder;

    @Test
    void aProjectIsGeneratedBuiltFlashedAndTalkedTo() throws IOException {
        Path template = template();
        Path archive = Files.write(folder.resolve("any.tar"), new byte[] {1, 2, 3});
        Path crt = Files.createDirectory(folder.resolve("runtime"));
        Path project = folder.resolve("project");
        Map<String, String> options = Map.of("board", "echo", "heap", "4096");
        try (ProjectServer server = start(template)) {
            assertThat(server.info().isTemplate()).isTrue();
            assertThat(server.info().archive()).isEmpty();
            server.generate(archive, crt, project, options);
        }
        assertThat(project.resolve("model.tar")).hasSameBinaryContentAs(archive);
        assertThat(project.resolve("crt").toRealPath()).isEqualTo(crt.toRealPath());
        String all = "{\"board\": \"echo\", \"verbose\": false, \"heap\": 4096, \"west_cmd\": null}";
        ObjectMapper json = new ObjectMapper();
        assertThat(json.readTree(project.resolve("options.json").toFile())).isEqualTo(json.readTree(all));
        Path log = folder.resolve("server.log");
        try (ProjectServer server = ProjectServer.start(project, LIMITS, Optional.of(log))) {
            assertThat(server.info().platform()).isEqualTo("echo");
            assertThat(server.info().archive())
                    .contains(project.toRealPath().resolve("model.tar").toString());
            assertThatThrownBy(() -> server.flash(options))
                    .isInstanceOf(MethodFailure.class)
                    .hasMessageContaining("calling method flash")
                    .hasMessageContaining("nothing was built");
            server.build(options);
            server.flash(options);
            assertThat(json.readTree(project.resolve("flashed").toFile())).isEqualTo(json.readTree(all));
            talk(server);
        }
        assertThat(Files.readString(log)).contains("building");
        assertGone(template);
        assertGone(project);
    }

    private static void talk(ProjectServer server) throws IOException {
        OpenedTransport opened = server.openTransport(Map.of("board", "echo"));
        assertThat(opened.timeouts())
                .isEqualTo(new TransportTimeouts(Duration.ofMillis(2500), Duration.ofSeconds(5), Duration.ZERO));
        byte[] sent = new byte[10_000];
        new Random(1).nextBytes(sent);
        try (ProjectTransport transport = opened.transport()) {
            transport.output().write(sent);
            assertThat(transport.input().readNBytes(sent.length)).isEqualTo(sent);
            writeWhileReading(transport);
        }
        assertThat(opened.transport().input().read()).isEqualTo(-1);
        assertThatThrownBy(() -> server.read(1, Duration.ZERO))
                .isInstanceOf(MethodFailure.class)
                .hasMessageContaining("the connection to the board is closed: TransportClosedError");
        server.closeTransport();
    }

    private static void writeWhileReading(ProjectTransport transport) throws IOException {
        try (TimedInput input = new TimedInput(transport.input())) {
            assertThat(input.read(input.now())).isEqualTo(TimedBytes.LATE);
            for (int value = 0; value < 5; value++) {
                transport.output().write(value);
                assertThat(input.read(input.now() + LIMITS.answer().toNanos())).isEqualTo(value);
            }
        }
    }

    /** As who stops reading ahead from the connection interrupts the thread that asks. */
    @Test
    void anInterruptDoesNotCutOffAnAnswer() throws IOException {
        try (ProjectServer server = start(project(""))) {
            for (int i = 0; i < 3; i++) {
                Thread.currentThread().interrupt();
                server.build(Map.of());
                assertThat(Thread.interrupted()).isTrue();
            }
        }
    }

    @Test
    void everyWrongOptionIsNamedBeforeTheServerIsAsked() throws IOException {
        try (ProjectServer server = start(template())) {
            Path project = folder.resolve("none");
            assertThatThrownBy(() -> server.generate(
                            folder, folder, project, Map.of("verbos", "true", "verbose", "yes", "heap", "1.5")))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("4 problems")
                    .hasMessageContaining("no option verbos; expected one of board, verbose, heap, west_cmd")
                    .hasMessageContaining("verbose is 'yes'; expected true or false")
                    .hasMessageContaining("heap is '1.5'; expected a whole number")
                    .hasMessageContaining("the option board has no value, and generate_project needs one")
                    .hasMessageContaining("one of echo, mute. Means board");
            assertThatThrownBy(() -> server.generate(folder, folder, folder, Map.of("board", "echo")))
                    .hasMessageContaining("exists already");
            assertThatThrownBy(() -> server.build(Map.of())).hasMessageContaining("this is a template");
            assertThat(project).doesNotExist();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "die,     the server ended without an answer",
        "late,    the server did not answer within 100 ms",
        "garbage, the answer is not JSON: Compiling",
        "cut,     the server ended without an answer",
        "binary,  the answer is not UTF-8",
        "flood,   the answer is longer than 16 MiB",
        "id,      the answer has the id 92 instead of 2",
        "twice,   the answer has the id 2 instead of 3"
    })
    void aServerThatMisbehavesIsOneErrorAndEnds(String fault, String message) throws IOException {
        Path project = project(fault + " build");
        ServerLimits limits = fault.equals("late") ? SHORT : LIMITS;
        try (ProjectServer server = ProjectServer.start(project, limits, Optional.empty())) {
            assertThatThrownBy(() -> {
                        server.build(Map.of());
                        server.flash(Map.of());
                    })
                    .isInstanceOf(KilnException.class)
                    .isNotInstanceOf(MethodFailure.class)
                    .hasMessageContaining(message)
                    .hasMessageContaining(project + ", " + (fault.equals("twice") ? "flash" : "build"))
                    .hasMessageContaining(fault.equals("die") ? "segmentation fault" : "building");
            assertGone(project);
            assertThatThrownBy(() -> server.build(Map.of())).hasMessageContaining(message);
        }
    }

    @Test
    void theSessionFailsWithTheServer() throws IOException {
        Path project = project("die write_transport");
        try (ProjectServer server = start(project)) {
            try (ProjectTransport transport = server.openTransport(Map.of()).transport();
                    InputStream input = transport.input()) {
                assertThatThrownBy(() -> transport.output().write(1)).isInstanceOf(IOException.class);
                assertThatThrownBy(input::read).isInstanceOf(IOException.class);
                assertThat(transport.explained(new KilnException(Failure.API.problem("no answer", "console"))))
                        .hasMessageContaining("the server ended without an answer");
            }
            assertThatThrownBy(() -> server.flash(Map.of())).hasMessageContaining("the server ended without an answer");
        }
        assertGone(project);
    }

    @Test
    void aServerThatSendsMoreThanWasAskedForEnds() throws IOException {
        Path project = project("more read_transport");
        try (ProjectServer server = start(project)) {
            server.openTransport(Map.of()).transport().output().write(1);
            assertThatThrownBy(() -> server.read(1, Duration.ZERO))
                    .hasMessageContaining(project + ", read_transport: the server sent 5 bytes; expected 1 to 1");
            assertGone(project);
        }
    }

    @Test
    void aFolderWithoutServerAndAServerOfAnotherVersionAreRefused() throws IOException {
        assertThatThrownBy(() -> start(folder))
                .hasMessageContaining("No Project API server found in project directory")
                .hasMessageContaining("launch_microtvm_api_server.sh or microtvm_api_server.py");
        Path project = project("version");
        assertThatThrownBy(() -> start(project))
                .hasMessageContaining("microTVM API Server supports protocol version 2; want 1");
        assertGone(project);
    }

    @Test
    void theLaunchScriptComesFirst() throws IOException {
        Path project = project("");
        Path script = Files.writeString(
                project.resolve("launch_microtvm_api_server.sh"),
                "#!/bin/sh\necho launched >&2\nexec python3 \"$@\"\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
        Path log = folder.resolve("server.log");
        try (ProjectServer server = ProjectServer.start(project, LIMITS, Optional.of(log))) {
            assertThat(server.info().isTemplate()).isFalse();
        }
        assertThat(Files.readString(log)).contains("launched");
    }

    private static ProjectServer start(Path directory) {
        return ProjectServer.start(directory, LIMITS, Optional.empty());
    }

    private Path template() throws IOException {
        Path template = Files.createDirectory(folder.resolve("template"));
        try (InputStream server = getClass().getResourceAsStream("microtvm_api_server.py")) {
            Files.copy(server, template.resolve("microtvm_api_server.py"));
        }
        return template;
    }

    private Path project(String fault) throws IOException {
        Path project = template();
        Files.createFile(project.resolve("model.tar"));
        Files.writeString(project.resolve("fault"), fault);
        return project;
    }

    private static void assertGone(Path directory) throws IOException {
        long pid = Long.parseLong(Files.readString(directory.resolve("pid")));
        assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
    }
}
