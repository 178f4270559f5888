// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.process.KeptPrograms;
import io.kiln.toolchain.compiler.Toolchains.Libc;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;

/** The real compilers, for tests. Where one is missing a test is skipped with the reason; in CI it fails. */
public final class TestToolchains {
    private TestToolchains() {}

    /** The toolchain for a target string, which can compile untrusted code. */
    public static Toolchain resolve(String id, String target) {
        try {
            ToolchainEnvironment environment = environment(Log.QUIET);
            return Toolchains.forStrangers(
                    Toolchains.resolve(id, TargetOptions.parse(target), environment), environment);
        } catch (KilnException e) {
            if ("true".equals(System.getenv("CI"))) {
                throw e;
            }
            return Assumptions.abort(e.getMessage());
        }
    }

    /** As {@link #resolve}, with a C library. */
    public static Toolchain with(Libc libc, String id, String target) {
        return Toolchains.with(libc, resolve(id, target), TargetOptions.parse(target), environment(Log.QUIET));
    }

    /** Bundled compilers come from the test class path, and are unpacked once for all checkouts of a user. */
    public static ToolchainEnvironment environment(Log log) {
        return new ToolchainEnvironment(KeptPrograms.folder().resolve("home"), List.of(), TestToolchains::fetch, log);
    }

    private static Path fetch(String group, String artifact, String version, String classifier, String extension) {
        String name = artifact + "-" + version + "-" + classifier + "." + extension;
        return Arrays.stream(System.getProperty("java.class.path").split(Pattern.quote(File.pathSeparator)))
                .map(Path::of)
                .filter(file -> file.endsWith(name) && Files.isRegularFile(file))
                .findFirst()
                .orElseThrow(() -> new KilnException(Failure.TOOL.problem(
                        "no " + name + " on the test class path", "pom.xml", "the property natives", "")));
    }
}
