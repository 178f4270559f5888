// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.List;
import java.util.Locale;

/** The classifier of this computer in native artifacts. */
final class HostPlatform {
    private static final List<String> PUBLISHED =
            List.of("linux-x86_64", "linux-arm64", "macosx-x86_64", "macosx-arm64", "windows-x86_64");

    private HostPlatform() {}

    static boolean isWindows() {
        return system().startsWith("windows");
    }

    /** The classifier, such as {@code linux-x86_64}. */
    static String classifier(String artifact) {
        String classifier =
                classifier(system(), System.getProperty("os.arch", "").toLowerCase(Locale.ROOT));
        if (!PUBLISHED.contains(classifier)) {
            throw new KilnException(Failure.TOOL.problem(
                    "the compiler " + artifact + " is not published for this computer (" + classifier + ")",
                    "toolchain",
                    "one of " + String.join(", ", PUBLISHED),
                    "Use -Dkiln.toolchain=gnu with compilers of your system"));
        }
        return classifier;
    }

    static String classifier(String system, String architecture) {
        String name = system.startsWith("mac") ? "macosx" : system.startsWith("windows") ? "windows" : system;
        String machine = switch (architecture) {
            case "amd64", "x86_64", "x64" -> "x86_64";
            case "aarch64", "arm64" -> "arm64";
            default -> architecture;
        };
        return name + "-" + machine;
    }

    private static String system() {
        return System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
    }
}
