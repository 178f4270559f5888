// SPDX-License-Identifier: Apache-2.0
package io.kiln.tvm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Digests;
import io.kiln.base.WholeFiles;
import io.kiln.process.Command;
import io.kiln.process.KeptPrograms;
import io.kiln.process.ProcessRunner;
import io.kiln.process.RunningProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * The real TVM in a Python of its own: one process, which answers the questions of {@code oracle.py} one after another. The build unpacks
 * both from Maven Central (the executions {@code tvm} and {@code tvm-before} of the POM). Where they are missing a test is skipped with
 * the reason; in CI it fails. What it {@linkplain #answer answered} is kept across runs, as compiled programs are.
 */
final class RealTvm implements AutoCloseable {
    private static final Path HOME = Path.of(System.getProperty(
            "kiln.test.tvm", System.getProperty("kiln.test.kept", "target/kept") + "/tvm-0.18.0-1.5.11"));

    private static final Path BEFORE = HOME.resolveSibling("tvm-0.14.0-1.5.10");

    private static final Path SCRIPTS = Path.of("src", "test", "resources", "io", "kiln", "tvm");
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path home;
    private final Path python;
    private Optional<Started> started = Optional.empty();

    private RealTvm(Path home, Path python) {
        this.home = home;
        this.python = python;
    }

    private record Started(RunningProcess process, BufferedReader answers) {}

    /** The last TVM that has microTVM, 0.18; {@code nightly} 0.14 too. */
    static Stream<RealTvm> releases() {
        boolean isNightly = System.getProperty("kiln.golden", "").equals("all");
        return (isNightly ? Stream.of(HOME, BEFORE) : Stream.of(HOME)).map(RealTvm::of);
    }

    private static RealTvm of(Path home) {
        Path python = Stream.of("python3.12", "python3.13")
                .map(part(home, "cpython", "bin")::resolve)
                .filter(Files::isRegularFile)
                .findFirst()
                .orElse(home);
        boolean isHere = Files.isRegularFile(python) && Files.isDirectory(part(home, "tvm", "python"));
        Assumptions.assumeTrue(
                isHere || "true".equals(System.getenv("CI")),
                "the real TVM is not in " + home
                        + ": mvn dependency:unpack@tvm loads it, or -Pnightly dependency:unpack@tvm-before");
        return new RealTvm(home, python);
    }

    /** The process, which begins with the first question. */
    private Started started() throws IOException {
        if (started.isEmpty()) {
            Files.setPosixFilePermissions(python, PosixFilePermissions.fromString("rwxr-xr-x"));
            RunningProcess process = ProcessRunner.start(
                    Command.of(python.toString(), SCRIPTS.resolve("oracle.py").toString())
                            .within(LIMIT)
                            .with("LC_ALL", "C.UTF-8")
                            .with("LD_LIBRARY_PATH", parts(home, "", "llvm", "openblas", "dnnl", "opencl", "cpython"))
                            .with("PYTHONHOME", part(home, "cpython", "").toString())
                            // 0.18 does without SciPy.
                            .with("PYTHONPATH", parts(home, "python", "tvm", "numpy", "scipy"))
                            // TVM starts several times; its modules are compiled once.
                            .with("PYTHONDONTWRITEBYTECODE", "")
                            .with(
                                    "PYTHONPYCACHEPREFIX",
                                    home.resolve("compiled").toAbsolutePath().toString())
                            // Tuning records of operators are somewhere in the network.
                            .with("TOPHUB_LOCATION", "NONE"));
            started = Optional.of(new Started(
                    process, new BufferedReader(new InputStreamReader(process.output(), StandardCharsets.UTF_8))));
        }
        return started.get();
    }

    private static String parts(Path home, String folder, String... names) {
        return Stream.of(names).map(name -> part(home, name, folder).toString()).collect(Collectors.joining(":"));
    }

    private static Path part(Path home, String name, String folder) {
        return home.resolve("org/bytedeco")
                .resolve(name)
                .resolve("linux-x86_64")
                .resolve(folder)
                .toAbsolutePath();
    }

    /**
     * What it answers to a question, or answered when the same was asked before: the same version and scripts, the same arguments, and files of the same
     * content.
     *
     * @param question one whose answer depends on its arguments alone
     * @param arguments as those of {@link #ask}; a path is a file to read
     */
    JsonNode answer(String question, Map<String, ?> arguments) {
        try {
            StringBuilder key = new StringBuilder(this + " " + question);
            for (Path script : WholeFiles.list(SCRIPTS)) {
                key.append(' ').append(Digests.sha256(script));
            }
            for (Map.Entry<String, Object> argument : new TreeMap<String, Object>(arguments).entrySet()) {
                key.append('\n').append(argument.getKey()).append(' ').append(content(argument.getValue()));
            }
            Path kept = KeptPrograms.folder().resolve("tvm-answers").resolve(Digests.sha256(key.toString()) + ".json");
            if (!Files.isRegularFile(kept)) {
                WholeFiles.write(kept, JSON.writeValueAsBytes(ask(question, arguments)));
            }
            Files.setLastModifiedTime(kept, FileTime.from(Instant.now()));
            return JSON.readTree(kept.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Object content(Object value) throws IOException {
        if (value instanceof Path file) {
            return Digests.sha256(file);
        } else if (value instanceof List<?> list) {
            StringBuilder all = new StringBuilder();
            for (Object each : list) {
                all.append(content(each)).append(',');
            }
            return all;
        }
        return value;
    }

    /**
     * Asks a question.
     *
     * @param question its name
     * @param arguments the arguments of its function in Python: text, numbers, paths, lists and maps of them
     * @throws AssertionError if TVM raises an error or dies, with what it said
     */
    JsonNode ask(String question, Map<String, ?> arguments) {
        ObjectNode request = JSON.createObjectNode().put("ask", question);
        arguments.forEach((name, value) -> request.set(name, JSON.valueToTree(plain(value))));
        try {
            RunningProcess process = started().process();
            process.input().write((request + "\n").getBytes(StandardCharsets.UTF_8));
            process.input().flush();
            String line = started().answers().readLine();
            if (line == null) {
                throw new AssertionError("TVM ended at " + request + "\n" + process.errors());
            }
            JsonNode answer = JSON.readTree(line);
            if (answer.has("failure")) {
                throw new AssertionError(answer.path("failure").asText() + "\n" + process.errors());
            }
            return answer.path("answer");
        } catch (IOException e) {
            throw new AssertionError(
                    "TVM ended at " + request + "\n"
                            + started.map(each -> each.process().errors()).orElse(""),
                    e);
        }
    }

    private static Object plain(Object value) {
        if (value instanceof Path path) {
            return path.toAbsolutePath().toString();
        }
        return value instanceof List<?> list ? list.stream().map(RealTvm::plain).toList() : value;
    }

    @Override
    public String toString() {
        return home.getFileName().toString();
    }

    @Override
    public void close() {
        started.ifPresent(each -> each.process().close());
    }
}
