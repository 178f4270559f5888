// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.process.Command;
import io.kiln.process.Executables;
import io.kiln.process.ProcessRunner;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A running Project API server of a template's or a project's folder. It is a program of that folder, which runs with
 * all rights of the caller. Every method throws {@link MethodFailure} for an error that the server reports, and another
 * {@link KilnException} if the server dies or does not answer as it should; it has ended then. Closing it ends it.
 */
public final class ProjectServer implements AutoCloseable {
    /** The version of TVM whose archives, C runtime and protocols Kiln follows. */
    private static final String TVM_VERSION = "0.16.0";

    private static final String PYTHON_FILE = "microtvm_api_server.py";
    private static final String LAUNCHER = "launch_microtvm_api_server.";
    private static final boolean IS_WINDOWS =
            System.getProperty("os.name", "").toLowerCase(Locale.ROOT).startsWith("windows");

    /** Arguments that let a server read requests from standard input and write replies to standard output: the JVM inherits no other pipes to it. */
    private static final List<String> PIPES = List.of("--read-fd", "0", "--write-fd", "1");

    /** Longest life of a server's process, even if each of its answers is in time. */
    private static final Duration LONGEST_LIFE = Duration.ofHours(12);

    private final Dialogue dialogue;
    private final ServerLimits limits;
    private final Path directory;
    private final ServerInfo info;

    private ProjectServer(Dialogue dialogue, ServerLimits limits, Path directory) {
        this.dialogue = dialogue;
        this.limits = limits;
        this.directory = directory;
        ObjectNode params = Message.object().put("tvm_version", TVM_VERSION);
        this.info = located(ServerInfo::of, dialogue.call("server_info_query", params, limits.answer()));
    }

    /**
     * Starts the server of a folder and asks for its description.
     *
     * @param log gets what the server prints
     */
    public static ProjectServer start(Path directory, ServerLimits limits, Optional<Path> log) {
        Command command = command(directory);
        Dialogue dialogue =
                new Dialogue(ProcessRunner.start(log.map(command::loggingTo).orElse(command)), directory.toString());
        try {
            return new ProjectServer(dialogue, limits, directory);
        } catch (KilnException e) {
            dialogue.close();
            throw e;
        }
    }

    /** The server's description of itself. */
    public ServerInfo info() {
        return info;
    }

    /**
     * Generates a project.
     *
     * @param archive the model's archive in Model Library Format
     * @param crt folder of the C runtime
     * @param project its folder, which must not exist
     * @param options the user's values by name
     */
    public void generate(Path archive, Path crt, Path project, Map<String, String> options) {
        if (!info.isTemplate()) {
            throw Failure.API.exception("this is a generated project", directory.toString(), "a template's folder");
        }
        if (Files.exists(project)) {
            throw Failure.API.exception(
                    "exists already", project.toString(), "a new folder", "Delete it or choose another");
        }
        String method = "generate_project";
        ObjectNode params = Message.object()
                .put("model_library_format_path", absolute(archive))
                .put("standalone_crt_dir", absolute(crt))
                .put("project_dir", absolute(project));
        params.set("options", info.values(method, options));
        dialogue.call(method, params, limits.work());
    }

    /** Builds the project of this folder. */
    public void build(Map<String, String> options) {
        work("build", options);
    }

    /** Flashes the board with what was built. */
    public void flash(Map<String, String> options) {
        work("flash", options);
    }

    private void work(String method, Map<String, String> options) {
        dialogue.call(method, requireProject().options(method, options), limits.work());
    }

    /**
     * Opens the connection to the board's program.
     *
     * @return the connection and the times that the server wants sessions over it to have
     */
    public OpenedTransport openTransport(Map<String, String> options) {
        String method = "open_transport";
        JsonNode result = dialogue.call(method, requireProject().options(method, options), limits.answer());
        TransportTimeouts timeouts = located(
                node -> {
                    Fields fields = new Fields(method, node.path("timeouts"));
                    return new TransportTimeouts(
                            fields.seconds("session_start_retry_timeout_sec"),
                            fields.seconds("session_start_timeout_sec"),
                            fields.seconds("session_established_timeout_sec"));
                },
                result);
        return new OpenedTransport(new ProjectTransport(this, directory.toString()), timeouts);
    }

    /**
     * An open connection.
     *
     * @param transport closing it closes the connection, not the server
     * @param timeouts for sessions of microTVM's RPC
     */
    public record OpenedTransport(ProjectTransport transport, TransportTimeouts timeouts) {}

    /** Reads at least one and at most {@code most} bytes. Fails with {@link MethodFailure#isIoTimeout} if none came in time. */
    byte[] read(int most, Duration time) {
        String method = "read_transport";
        ObjectNode params = Message.object().put("n", most).put("timeout_sec", seconds(time));
        return located(
                node -> {
                    byte[] bytes = Base85.decode(new Fields(method, node).text("data"));
                    if (bytes.length == 0 || bytes.length > most) {
                        throw Failure.API.exception(
                                "the server sent " + bytes.length + " bytes", method, "1 to " + most);
                    }
                    return bytes;
                },
                dialogue.call(method, params, limits.answer().plus(time)));
    }

    /** Sends all bytes. */
    void write(byte[] bytes, Duration time) {
        ObjectNode params = Message.object().put("data", Base85.encode(bytes)).put("timeout_sec", seconds(time));
        dialogue.call("write_transport", params, limits.answer().plus(time));
    }

    void closeTransport() {
        dialogue.call("close_transport", Message.object(), limits.answer());
    }

    private ProjectServer requireProject() {
        if (info.isTemplate()) {
            throw Failure.API.exception(
                    "this is a template", directory.toString(), "a generated project", "Generate a project from it");
        }
        return this;
    }

    private ObjectNode options(String method, Map<String, String> options) {
        ObjectNode params = Message.object();
        params.set("options", info.values(method, options));
        return params;
    }

    private interface Reading<T> {
        T of(JsonNode result);
    }

    /** Reads a result; a wrong one ends the server. */
    private <T> T located(Reading<T> reading, JsonNode result) {
        try {
            return reading.of(result);
        } catch (KilnException e) {
            dialogue.close();
            KilnException located = new KilnException(e.problems().stream()
                    .map(each -> each.at(directory + ", " + each.where()))
                    .toList());
            located.initCause(e);
            throw located;
        }
    }

    private static double seconds(Duration time) {
        return time.toMillis() / 1000.0;
    }

    private static String absolute(Path path) {
        return path.toAbsolutePath().normalize().toString();
    }

    @Override
    public void close() {
        dialogue.close();
    }

    /** The server program of a folder: its launch script, or the Python file that Python runs. */
    private static Command command(Path directory) {
        Path folder = directory.toAbsolutePath().normalize();
        Path script = folder.resolve(LAUNCHER + (IS_WINDOWS ? "bat" : "sh"));
        Path python = folder.resolve(PYTHON_FILE);
        List<String> line = new ArrayList<>();
        if (Files.isRegularFile(script)) {
            line.addAll(List.of(script.toString(), python.toString()));
        } else if (Files.isRegularFile(python)) {
            line.addAll(List.of(python(python), python.toString()));
        } else {
            throw Failure.API.exception(
                    "No Project API server found in project directory",
                    folder.toString(),
                    script.getFileName() + " or " + PYTHON_FILE);
        }
        line.addAll(PIPES);
        return Command.ofLine(line).in(folder).within(LONGEST_LIFE);
    }

    private static String python(Path file) {
        return Executables.find("python3")
                .or(() -> Executables.find("python"))
                .map(Path::toString)
                .orElseThrow(() -> Failure.API.exception(
                        "there is no Python to run it", file.toString(), "python3 on the PATH", "Install Python 3"));
    }

    /**
     * How long a server may take; after that it is killed.
     *
     * @param answer for questions and the transport, beside the time that the method itself is given
     * @param work for generating, building and flashing
     */
    public record ServerLimits(Duration answer, Duration work) {
        /** The limits for real servers: they import many modules when they start, and build whole operating systems. */
        public static final ServerLimits DEFAULT = new ServerLimits(Duration.ofMinutes(1), Duration.ofMinutes(30));
    }
}
