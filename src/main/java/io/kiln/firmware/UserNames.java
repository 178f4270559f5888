// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of the user's sources. What is compiled is a copy in the C project; debug information, {@code __FILE__} and messages name the file that
 * the user edits.
 */
final class UserNames {
    /** Where a project's own C lies, seen from the project's folder; the same on every computer. */
    static final String ORIGIN = "src/main/c/";

    private static final String COPY = ProjectFiles.USER + "/";

    /** A place in a message of a compiler or a linker: at the start of a line, or behind the words that introduce it. */
    private static final Pattern PLACE = Pattern.compile(
            "(?m)(^\\s*|from |in function [^\\n]*: |\\()(?:\\./)?(?:" + COPY + "|" + ORIGIN + ")(?=[^:\\n]*:)");

    private final Optional<Path> folder;

    UserNames(FirmwareProject project) {
        this.folder = project.userSources();
    }

    /** The option by which compilers name the original. */
    static String prefixMap() {
        return "-ffile-prefix-map=" + COPY + "=" + ORIGIN;
    }

    /** A source as the user knows it. */
    static String name(SourceUnit unit) {
        return unit.path().startsWith(COPY) ? ORIGIN + unit.path().substring(COPY.length()) : unit.path();
    }

    /** What a tool says, with absolute names, which terminals and development environments open. */
    String original(String said) {
        return folder.map(path -> PLACE.matcher(said)
                        .replaceAll("$1"
                                + Matcher.quoteReplacement(path.toAbsolutePath().normalize() + "/")))
                .orElse(said);
    }
}
