// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Maps names of the user's sources. The compiler reads a copy in the C project; debug information, {@code __FILE__} and
 * messages name the file that the user edits.
 */
final class UserNames {
    /** Folder of a project's own C, relative to the project; the same on every computer. */
    static final String ORIGIN = "src/main/c/";

    private static final String COPY = ProjectFiles.USER + "/";

    /** A path in a message of a compiler or a linker: at the start of a line, or after an introducing phrase. */
    private static final Pattern PLACE = Pattern.compile(
            "(?m)(^\\s*|from |in function [^\\n]*: |\\()(?:\\./)?(?:" + COPY + "|" + ORIGIN + ")(?=[^:\\n]*:)");

    private final Optional<Path> folder;

    UserNames(FirmwareProject project) {
        this.folder = project.userSources();
    }

    /** The option that makes compilers name the original. */
    static String prefixMap() {
        return "-ffile-prefix-map=" + COPY + "=" + ORIGIN;
    }

    /** The user's name of a source. */
    static String name(SourceUnit unit) {
        return unit.path().startsWith(COPY) ? ORIGIN + unit.path().substring(COPY.length()) : unit.path();
    }

    /** A tool's output with absolute file names, which terminals and development environments can open. */
    String original(String said) {
        return folder.map(path -> PLACE.matcher(said)
                        .replaceAll("$1"
                                + Matcher.quoteReplacement(path.toAbsolutePath().normalize() + "/")))
                .orElse(said);
    }
}
