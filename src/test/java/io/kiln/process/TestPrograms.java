// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import io.kiln.process.ProcessRunner.Executables;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** Real programs that tests start. */
public final class TestPrograms {
    /** For C that is as strict as Kiln's own, on this computer and under the sanitizers; the version of C is not among them. */
    public static final List<String> SANITIZED = List.of(
            "-Wall",
            "-Wextra",
            "-Wconversion",
            "-Wshadow",
            "-Wpedantic",
            "-Wstrict-prototypes",
            "-Werror",
            "-g",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all");

    private TestPrograms() {}

    /** Skips the test, with the reason, where a program is missing; in CI the test goes on and fails. */
    public static void need(String... programs) {
        for (String program : List.of(programs)) {
            if (Executables.find(program).isEmpty() && !"true".equals(System.getenv("CI"))) {
                Assumptions.abort(program + " is not installed");
            }
        }
    }

    /** The command line of a program of the tests in a Java process of its own, to which its arguments are added. */
    public static List<String> java(Class<?> program, String... options) {
        List<String> line = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        line.addAll(
                List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dslf4j.internal.verbosity=ERROR"));
        line.addAll(List.of(options));
        line.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        return line;
    }

    /** The programs that still run, without the guardian of all; those that were killed get a moment to end. */
    public static List<ProcessHandle> left() {
        List<ProcessHandle> left = ProcessHandle.current()
                .descendants()
                .filter(process -> !isGuardian(process))
                .toList();
        for (ProcessHandle process : left) {
            process.onExit().completeOnTimeout(process, 10, TimeUnit.SECONDS).join();
        }
        return left.stream().filter(ProcessHandle::isAlive).toList();
    }

    /** Whether a process is the shell that ends all others with this JVM. */
    static boolean isGuardian(ProcessHandle process) {
        return process.info().arguments().stream().flatMap(Stream::of).anyMatch("kiln-guardian"::equals);
    }
}
