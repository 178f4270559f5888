// SPDX-License-Identifier: Apache-2.0
package io.kiln.tvm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.RunningProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * The real TVM in a Python of its own: one process, which answers the questions of {@code oracle.py} one after another. The build unpacks
 * both from Maven Central (the executions {@code tvm} and {@code tvm-before} of the POM). Where they are missing a test is skipped with
 * the reason; in CI it fails.
 */
final class RealTvm implements AutoCloseable {
    private static final Path HOME = Path.of(System.getProperty(
            "kiln.test.tvm", System.getProperty("kiln.test.kept", "target/kept") + "/tvm-0.18.0-1.5.11"));

    private static final Path BEFORE = HOME.resolveSibling("tvm-0.14.0-1.5.10");

    private static final Path SCRIPTS = Path.of("src", "test", "resources", "io", "kiln", "tvm");
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path home;
    private final RunningProcess process;
    private final BufferedReader answers;

    private RealTvm(Path home, RunningProcess process) {
        this.home = home;
        this.process = process;
        this.answers = new BufferedReader(new InputStreamReader(process.output(), StandardCharsets.UTF_8));
    }

    /** The last TVM that has microTVM, 0.18; {@code nightly} 0.14 too. */
    static Stream<RealTvm> releases() {
        boolean isNightly = System.getProperty("kiln.golden", "").equals("all");
        return (isNightly ? Stream.of(HOME, BEFORE) : Stream.of(HOME)).map(RealTvm::start);
    }

    /** Starts it; the import of TVM takes a few seconds, in which the test can do something else. */
    private static RealTvm start(Path home) {
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
        try {
            Files.setPosixFilePermissions(python, PosixFilePermissions.fromString("rwxr-xr-x"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new RealTvm(
                home,
                ProcessRunner.start(Command.of(
                                python.toString(), SCRIPTS.resolve("oracle.py").toString())
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
                        .with("TOPHUB_LOCATION", "NONE")));
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
            process.input().write((request + "\n").getBytes(StandardCharsets.UTF_8));
            process.input().flush();
            String line = answers.readLine();
            if (line == null) {
                throw new AssertionError("TVM ended at " + request + "\n" + process.errors());
            }
            JsonNode answer = JSON.readTree(line);
            if (answer.has("failure")) {
                throw new AssertionError(answer.path("failure").asText() + "\n" + process.errors());
            }
            return answer.path("answer");
        } catch (IOException e) {
            throw new AssertionError("TVM ended at " + request + "\n" + process.errors(), e);
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
        process.close();
    }
}
