// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Printable;
import io.kiln.base.Problem;
import io.kiln.device.projectapi.ServerInfo.Fields;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.TimedBytes;
import io.kiln.device.transport.TimedInput;
import io.kiln.device.transport.Transport;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.process.RunningProcess;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

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

    /** Requests to a server's process, strictly one after the other, from any thread. A wrong or late answer ends the process. */
    private static final class Dialogue implements AutoCloseable {
        /** Longest answer in bytes. */
        private static final int MOST_BYTES = 16 << 20;

        private static final Duration TIME_TO_END = Duration.ofSeconds(5);
        private static final int MOST_ERRORS = 2000;

        private final RunningProcess process;
        private final String name;
        private final TimedInput output;
        private final LineReader lines;
        private final ReentrantLock turn = new ReentrantLock(true);
        private int lastId;
        private boolean interrupted;
        private boolean ended;
        private Optional<Problem> reason = Optional.empty();

        /**
         * @param name the server's place, for messages
         */
        Dialogue(RunningProcess process, String name) {
            this.process = process;
            this.name = name;
            this.output = new TimedInput(process.output());
            this.lines = new LineReader(new Patient(), MOST_BYTES);
        }

        /**
         * The answer's bytes. An interrupt, which stops a thread that reads ahead, does not cut off an answer that is on its way: a few
         * seconds are left for it.
         */
        private final class Patient implements TimedBytes {
            @Override
            public int read(long deadline) {
                int value = output.read(deadline);
                long last = deadline;
                while (value == LATE && Thread.interrupted()) {
                    interrupted = true;
                    last = Math.min(last, now() + TIME_TO_END.toNanos());
                    value = output.read(last);
                }
                return value;
            }

            @Override
            public long now() {
                return output.now();
            }

            @Override
            public void close() {
                output.close();
            }
        }

        /**
         * Calls a method.
         *
         * @param limit longest time to the answer
         * @return its result
         * @throws MethodFailure if the server reports an error
         * @throws KilnException if it does not answer as it should; it has ended then
         */
        JsonNode call(String method, JsonNode params, Duration limit) {
            turn.lock();
            try {
                requireRunning(method);
                lastId++;
                send(Message.request(method, params, lastId));
                return Message.result(answer(limit), lastId);
            } catch (MethodFailure | Ended e) {
                throw e;
            } catch (KilnException e) {
                throw broken(method, e);
            } finally {
                if (interrupted) {
                    interrupted = false;
                    Thread.currentThread().interrupt();
                }
                turn.unlock();
            }
        }

        /** Requires that the dialogue goes on. Later calls, which may come from other threads, fail for the same reason as the one that broke it. */
        private void requireRunning(String method) {
            if (ended) {
                throw new Ended(reason.orElse(Failure.API.problem("the server has ended", place(method))));
            }
        }

        /** The failure of a call whose process had ended before. */
        private static final class Ended extends KilnException {
            private static final long serialVersionUID = 1L;

            Ended(Problem problem) {
                super(problem);
            }
        }

        private void send(String request) {
            try {
                process.input().write((request + "\n").getBytes(StandardCharsets.UTF_8));
                process.input().flush();
            } catch (IOException e) {
                throw new KilnException(Failure.API.problem("the server ended without an answer", ""), e);
            }
        }

        private String answer(Duration limit) {
            LineReader.Line line = lines.next(System.nanoTime() + limit.toNanos());
            return switch (line.ending()) {
                case COMPLETE -> line.text();
                case LATE ->
                    throw Failure.API.exception("the server did not answer within " + limit.toMillis() + " ms", "");
                case END -> throw Failure.API.exception("the server ended without an answer", "");
                case TOO_LONG -> throw Message.malformed("the answer is longer than " + (MOST_BYTES >> 20) + " MiB");
                case NOT_UTF8 -> throw Message.malformed("the answer is not UTF-8");
            };
        }

        /** Ends the process and returns the failure with the server's place and its last output. */
        private KilnException broken(String method, KilnException failure) {
            ended = true;
            kill();
            Problem problem = failure.problems().get(0);
            String errors = Printable.lines(process.errors().strip());
            String last =
                    errors.length() <= MOST_ERRORS ? errors : "..." + errors.substring(errors.length() - MOST_ERRORS);
            String next = last.isEmpty() ? problem.next() : problem.next() + "\nIts last messages:\n" + last;
            Problem whole =
                    new Problem(problem.family(), problem.what(), place(method), problem.expected(), next.strip());
            reason = Optional.of(whole);
            return new KilnException(whole, failure);
        }

        private String place(String method) {
            return name + ", " + method;
        }

        /** Waits for an answer on its way, closes the server's pipe, at which it ends by itself, and kills it otherwise. */
        @Override
        public void close() {
            turn.lock();
            try {
                if (!ended) {
                    ended = true;
                    process.input().close();
                    process.waitFor(TIME_TO_END);
                }
            } catch (IOException e) {
                // It has ended already.
                return;
            } finally {
                kill();
                turn.unlock();
            }
        }

        private void kill() {
            process.close();
            output.close();
        }
    }

    /**
     * The connection to a board that a {@link ProjectServer} holds open. Reading asks the server again and again with short
     * times, because it answers only one request at a time and a waiting read would hold up a write.
     */
    static final class ProjectTransport implements Transport {
        private static final Duration READ_TIME = Duration.ofMillis(50);
        private static final Duration WRITE_TIME = Duration.ofSeconds(10);
        private static final int MOST_READ = 4096;
        private static final int MOST_WRITTEN = 4096;

        private final ProjectServer server;
        private final String name;
        private final AtomicBoolean held = new AtomicBoolean();
        private final AtomicBoolean closed = new AtomicBoolean();
        private final AtomicReference<Optional<KilnException>> broken = new AtomicReference<>(Optional.empty());
        private final InputStream input = new Input();
        private final OutputStream output = new Output();

        /**
         * @param name the server's place, for messages
         */
        ProjectTransport(ProjectServer server, String name) {
            this.server = server;
            this.name = name;
        }

        @Override
        public InputStream input() {
            return input;
        }

        @Override
        public OutputStream output() {
            return output;
        }

        @Override
        public AtomicBoolean held() {
            return held;
        }

        /** The server's failure, if that was the reason; otherwise the same with the server's name. */
        @Override
        public KilnException explained(KilnException failure) {
            return broken.get()
                    .orElseGet(() -> new KilnException(
                            Failure.API.problem(
                                    "the session over the server's connection failed: " + failure.getMessage(), name),
                            failure));
        }

        /** Closes the connection, unless the server has ended. */
        @Override
        public void close() {
            if (!closed.getAndSet(true) && broken.get().isEmpty()) {
                server.closeTransport();
            }
        }

        private IOException failed(KilnException failure) {
            broken.compareAndSet(Optional.empty(), Optional.of(failure));
            return new IOException(failure.getMessage(), failure);
        }

        private final class Input extends InputStream {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
            }

            @Override
            public int read(byte[] block, int offset, int length) throws IOException {
                if (length == 0) {
                    return 0;
                }
                while (!closed.get()) {
                    try {
                        byte[] bytes = server.read(Math.min(length, MOST_READ), READ_TIME);
                        System.arraycopy(bytes, 0, block, offset, bytes.length);
                        return bytes.length;
                    } catch (KilnException e) {
                        if (!closed.get() && !(e instanceof MethodFailure failure && failure.isIoTimeout())) {
                            throw failed(e);
                        }
                    }
                }
                return -1;
            }
        }

        private final class Output extends OutputStream {
            @Override
            public void write(int value) throws IOException {
                write(new byte[] {(byte) value}, 0, 1);
            }

            @Override
            public void write(byte[] block, int offset, int length) throws IOException {
                for (int at = 0; at < length; at += MOST_WRITTEN) {
                    if (closed.get()) {
                        throw new IOException("the connection is closed");
                    }
                    int end = Math.min(length, at + MOST_WRITTEN);
                    try {
                        server.write(Arrays.copyOfRange(block, offset + at, offset + end), WRITE_TIME);
                    } catch (KilnException e) {
                        throw failed(e);
                    }
                }
            }
        }
    }
}
