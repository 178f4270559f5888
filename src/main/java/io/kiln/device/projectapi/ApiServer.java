// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.device.projectapi.ApiServer.ApiMethod.Parameter;
import io.kiln.device.projectapi.ApiServer.ApiMethod.ParameterType;
import io.kiln.device.projectapi.LineReader.Ending;
import io.kiln.device.projectapi.LineReader.Line;
import io.kiln.device.projectapi.ServerInfo.ProjectOption.OptionValues;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.TimedInput;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The protocol of a Project API server: reads requests, checks them against the methods' parameters, lets a {@link ProjectHandler}
 * execute them, and replies to each. It ends when the requests end, or at a line that is not a request.
 */
public final class ApiServer {
    /** Longest request in bytes. */
    private static final int MOST_BYTES = 16 << 20;

    private static final int MOST_READ = 1 << 20;
    private static final double MOST_SECONDS = 1e9;
    private static final double NANOS = 1e9;
    private static final long FOR_EVER = Long.MAX_VALUE / 2;

    /** How often a method that waits for the board looks whether its client is still there. */
    private static final Duration SLICE = Duration.ofMillis(200);

    private final TimedInput requests;
    private final LineReader lines;
    private final OutputStream replies;
    private final ProjectHandler handler;
    private final Log log;

    private ApiServer(TimedInput requests, OutputStream replies, ProjectHandler handler, Log log) {
        this.requests = requests;
        this.lines = new LineReader(requests, MOST_BYTES);
        this.replies = replies;
        this.handler = handler;
        this.log = log;
    }

    /**
     * Serves until the requests end; the caller closes streams and handler.
     *
     * @param log gets a line for each request, and each failure
     */
    public static void serve(InputStream requests, OutputStream replies, ProjectHandler handler, Log log) {
        try (TimedInput input = new TimedInput(requests)) {
            ApiServer server = new ApiServer(input, replies, handler, log);
            while (server.serveOne()) {
                log.debug("waiting for the next request");
            }
        } catch (IOException e) {
            log.info("the client is gone: " + e.getMessage());
        }
    }

    private boolean serveOne() throws IOException {
        Line line = lines.next(requests.now() + FOR_EVER);
        Optional<JsonNode> request = line.ending() == Ending.COMPLETE ? Message.read(line.text()) : Optional.empty();
        if (request.isEmpty()) {
            log.info(line.ending() == Ending.END ? "no more requests" : "this is not a request: " + line.ending());
            return false;
        }
        try {
            ApiRequest one = ApiRequest.of(request.get());
            send(answer(one));
            return true;
        } catch (MethodFailure e) {
            send(Message.error(NullNode.getInstance(), e, NullNode.getInstance()));
            return false;
        }
    }

    private void send(String reply) throws IOException {
        log.debug("reply " + Message.shown(reply));
        replies.write((reply + "\n").getBytes(StandardCharsets.UTF_8));
        replies.flush();
    }

    private String answer(ApiRequest request) {
        log.debug("request " + request.method());
        try {
            return Message.reply(request.id(), call(request.checked(), request.params()));
        } catch (MethodFailure e) {
            boolean isOfHandler = e.code() == MethodFailure.SERVER_ERROR;
            return Message.error(request.id(), e, isOfHandler ? traceback(e) : NullNode.getInstance());
        } catch (RuntimeException e) {
            log.warn(request.method() + " failed: " + e.getMessage());
            MethodFailure failure = new MethodFailure(MethodFailure.SERVER_ERROR, "calling method " + request.method());
            return Message.error(request.id(), failure, traceback(e));
        }
    }

    /** The text that a client shows its user: the message for failures that a user can fix, otherwise the stack trace too. */
    private static JsonNode traceback(RuntimeException failure) {
        StringWriter text = new StringWriter();
        if (failure instanceof KilnException) {
            text.write(failure.getMessage());
        } else {
            failure.printStackTrace(new PrintWriter(text, true));
        }
        return Message.object().put("traceback", text.toString());
    }

    private JsonNode call(ApiMethod method, ObjectNode params) {
        switch (method) {
            case SERVER_INFO_QUERY -> {
                return handler.info(params.get("tvm_version").textValue()).json();
            }
            case GENERATE_PROJECT ->
                handler.generate(
                        path(params, "model_library_format_path"),
                        path(params, "standalone_crt_dir"),
                        path(params, "project_dir"),
                        options(params));
            case BUILD -> handler.build(options(params));
            case FLASH -> handler.flash(options(params));
            case OPEN_TRANSPORT -> {
                return json(handler.openTransport(options(params)));
            }
            case CLOSE_TRANSPORT -> handler.closeTransport();
            case READ_TRANSPORT -> {
                return Message.object().put("data", Base85.encode(read(params)));
            }
            case WRITE_TRANSPORT -> write(params);
        }
        return NullNode.getInstance();
    }

    private static Path path(ObjectNode params, String name) {
        return Path.of(params.get(name).textValue());
    }

    private static OptionValues options(ObjectNode params) {
        return new OptionValues((ObjectNode) params.get("options"));
    }

    private static JsonNode json(TransportTimeouts timeouts) {
        ObjectNode reply = Message.object();
        reply.putObject("timeouts")
                .put("session_start_retry_timeout_sec", seconds(timeouts.sessionStartRetry()))
                .put("session_start_timeout_sec", seconds(timeouts.sessionStart()))
                .put("session_established_timeout_sec", seconds(timeouts.sessionEstablished()));
        return reply;
    }

    private static double seconds(Duration time) {
        return time.toNanos() / NANOS;
    }

    private byte[] read(ObjectNode params) {
        JsonNode number = params.get("n");
        if (number.longValue() < 1) {
            throw Failure.API.exception("n is " + number, "read_transport", "1 or more");
        }
        int most = (int) Math.min(number.longValue(), MOST_READ);
        long deadline = deadline(params);
        byte[] bytes = handler.read(most, slice(deadline));
        while (bytes.length == 0) {
            requireTime(deadline);
            bytes = handler.read(most, slice(deadline));
        }
        return bytes;
    }

    private void write(ObjectNode params) {
        byte[] bytes = Base85.decode(params.get("data").textValue());
        long deadline = deadline(params);
        int sent = handler.write(bytes, 0, slice(deadline));
        while (sent < bytes.length) {
            requireTime(deadline);
            sent += handler.write(bytes, sent, slice(deadline));
        }
    }

    private void requireTime(long deadline) {
        if (deadline <= requests.now() || requests.isAtEnd()) {
            throw MethodFailure.ioTimeout();
        }
    }

    private long deadline(ObjectNode params) {
        JsonNode seconds = params.get("timeout_sec");
        double time = Math.max(0, Math.min(MOST_SECONDS, seconds.doubleValue()));
        return requests.now() + (seconds.isNull() ? FOR_EVER : (long) (time * NANOS));
    }

    private Duration slice(long deadline) {
        long left = Math.max(0, deadline - requests.now());
        return Duration.ofNanos(Math.min(left, SLICE.toNanos()));
    }

    /**
     * A well-formed request of any method.
     *
     * @param id a text, a whole number or null
     * @param method name of the method
     * @param params its parameters, unchecked
     */
    private record ApiRequest(JsonNode id, String method, ObjectNode params) {
        private static final Pattern METHOD = Pattern.compile("[a-zA-Z0-9_]+");

        /**
         * Reads a request.
         *
         * @throws MethodFailure if it is not well-formed; its id is unknown then
         */
        static ApiRequest of(JsonNode node) {
            require(node.isObject(), "request: want dict; got " + ParameterType.of(node));
            JsonNode version = node.path("jsonrpc");
            require(
                    Message.VERSION.equals(version.textValue()),
                    "request[\"jsonrpc\"]: want \"2.0\"; got " + shown(version));
            JsonNode method = node.path("method");
            require(method.isTextual(), "request[\"method\"]: want str; got " + shown(method));
            require(
                    METHOD.matcher(method.textValue()).matches(),
                    "request[\"method\"]: should match regex ^[a-zA-Z0-9_]+$; got " + shown(method));
            JsonNode params = node.path("params");
            require(params.isObject(), "request[\"params\"]: want dict; got " + typeOf(params));
            JsonNode id = node.hasNonNull("id") ? node.get("id") : NullNode.getInstance();
            require(
                    id.isTextual() || id.isIntegralNumber() || id.isNull(),
                    "request[\"id\"]: want str, number, null; got " + shown(id));
            return new ApiRequest(id, method.textValue(), (ObjectNode) params);
        }

        private static void require(boolean holds, String message) {
            if (!holds) {
                throw new MethodFailure(MethodFailure.INVALID_REQUEST, message);
            }
        }

        private static String shown(JsonNode value) {
            return value.isMissingNode() ? "None" : Message.shown(value.toString());
        }

        private static String typeOf(JsonNode value) {
            return value.isMissingNode() ? "NoneType" : ParameterType.of(value);
        }

        /**
         * The method, after checking that all of its parameters are present and of their types.
         *
         * @throws MethodFailure if there is no such method, or the parameters do not match
         */
        ApiMethod checked() {
            ApiMethod called = ApiMethod.of(method)
                    .orElseThrow(() -> new MethodFailure(MethodFailure.METHOD_NOT_FOUND, method + ": no such method"));
            for (Parameter parameter : called.parameters()) {
                String what = "method " + method + ": parameter " + parameter.name();
                if (!params.has(parameter.name())) {
                    throw new MethodFailure(MethodFailure.INVALID_PARAMS, what + " not given");
                }
                JsonNode value = params.get(parameter.name());
                if (!parameter.type().holds(value)) {
                    throw new MethodFailure(
                            MethodFailure.INVALID_PARAMS,
                            what + ": want " + parameter.type().text() + ", got " + ParameterType.of(value));
                }
            }
            List<String> extra = new ArrayList<>();
            params.fieldNames().forEachRemaining(extra::add);
            extra.removeAll(called.parameters().stream().map(Parameter::name).toList());
            if (!extra.isEmpty()) {
                throw new MethodFailure(
                        MethodFailure.INVALID_PARAMS, method + ": extra parameters: " + String.join(", ", extra));
            }
            return called;
        }
    }

    /** The methods of the Project API. Each takes all of its parameters, and no others. */
    enum ApiMethod {
        SERVER_INFO_QUERY,
        GENERATE_PROJECT,
        BUILD,
        FLASH,
        OPEN_TRANSPORT,
        CLOSE_TRANSPORT,
        READ_TRANSPORT,
        WRITE_TRANSPORT;

        private static final Parameter OPTIONS = new Parameter("options", ParameterType.DICT);
        private static final Parameter TIMEOUT = new Parameter("timeout_sec", ParameterType.SECONDS);

        enum ParameterType {
            STR,
            INT,
            DICT,
            SECONDS;

            /** The name, of Python's types. */
            String text() {
                return switch (this) {
                    case STR -> "str";
                    case INT -> "int";
                    case DICT -> "dict";
                    case SECONDS -> "float or None";
                };
            }

            boolean holds(JsonNode value) {
                return switch (this) {
                    case STR -> value.isTextual();
                    case INT -> value.isIntegralNumber();
                    case DICT -> value.isObject();
                    case SECONDS -> value.isNumber() || value.isNull();
                };
            }

            /** The name of a value's type. */
            static String of(JsonNode value) {
                return switch (value.getNodeType()) {
                    case STRING -> "str";
                    case BOOLEAN -> "bool";
                    case NUMBER -> value.isIntegralNumber() ? "int" : "float";
                    case ARRAY -> "list";
                    case NULL -> "NoneType";
                    default -> "dict";
                };
            }
        }

        record Parameter(String name, ParameterType type) {}

        List<Parameter> parameters() {
            return switch (this) {
                case SERVER_INFO_QUERY -> List.of(new Parameter("tvm_version", ParameterType.STR));
                case GENERATE_PROJECT ->
                    List.of(
                            new Parameter("model_library_format_path", ParameterType.STR),
                            new Parameter("standalone_crt_dir", ParameterType.STR),
                            new Parameter("project_dir", ParameterType.STR),
                            OPTIONS);
                case BUILD, FLASH, OPEN_TRANSPORT -> List.of(OPTIONS);
                case CLOSE_TRANSPORT -> List.of();
                case READ_TRANSPORT -> List.of(new Parameter("n", ParameterType.INT), TIMEOUT);
                case WRITE_TRANSPORT -> List.of(new Parameter("data", ParameterType.STR), TIMEOUT);
            };
        }

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** The method of a name; empty if there is none. */
        static Optional<ApiMethod> of(String text) {
            return Arrays.stream(values())
                    .filter(method -> method.text().equals(text))
                    .findFirst();
        }
    }

    /**
     * The work of a Project API server for its client; {@link ApiServer} calls one method after the other, from one thread.
     * Every method may throw {@link MethodFailure#transportClosed} and any other exception, which the client gets as text.
     */
    public interface ProjectHandler extends AutoCloseable {
        /**
         * Describes the folder and its options.
         *
         * @param tvmVersion the version of the client
         */
        ServerInfo info(String tvmVersion);

        /**
         * Generates a project from this template, whole or not at all.
         *
         * @param archive the model's archive in Model Library Format
         * @param runtime folder of a C runtime
         * @param project the new folder
         */
        void generate(Path archive, Path runtime, Path project, OptionValues options);

        void build(OptionValues options);

        /** Writes what was built to the board. */
        void flash(OptionValues options);

        /**
         * Connects to the board's program.
         *
         * @return how long sessions over the connection may take to answer
         */
        TransportTimeouts openTransport(OptionValues options);

        void closeTransport();

        /**
         * Waits for bytes of the board's program.
         *
         * @param most the largest number of bytes, at least 1
         * @return the bytes that are there; empty if none came in time
         */
        byte[] read(int most, Duration time);

        /**
         * Sends bytes to the board's program.
         *
         * @param bytes what to send
         * @param from the first byte to send
         * @return how many bytes were taken in time
         */
        int write(byte[] bytes, int from, Duration time);

        /** Disconnects, and ends every process that was started. */
        @Override
        void close();
    }
}
