// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Maps names of the user's sources. The compiler reads a copy in the C project; debug information, {@code __FILE__} and
 * messages name the file that the user edits.
 */
final class UserNames {
    private final UserCode code;

    UserNames(FirmwareProject project) {
        this.code = project.code();
    }

    /** The option that makes compilers name the originals in a folder. */
    static String prefixMap(CodeFolder folder) {
        return "-ffile-prefix-map=" + folder.copy() + "/=" + folder.origin() + "/";
    }

    /** The user's name of a source. */
    String name(SourceUnit unit) {
        return name(unit.path());
    }

    /** The user's name of a file of the C project. */
    String name(String path) {
        return code.folderOf(path).map(folder -> folder.original(path)).orElse(path);
    }

    /** A tool's output with absolute file names, which terminals and development environments can open. */
    String original(String said) {
        if (code.folders().isEmpty()) {
            return said;
        }
        return places().matcher(said)
                .replaceAll((MatchResult found) -> Matcher.quoteReplacement(
                        found.group(1) + folder(found.group(2)).orElseThrow().path() + "/"));
    }

    /** A path in a message of a compiler or a linker: at the start of a line, or after an introducing phrase. */
    private Pattern places() {
        String names = code.folders().stream()
                .flatMap(folder -> Stream.of(folder.copy(), folder.origin()))
                .distinct()
                .map(Pattern::quote)
                .collect(Collectors.joining("|"));
        return Pattern.compile("(?m)(^\\s*|from |in function [^\\n]*: |\\()(?:\\./)?(" + names + ")/(?=[^:\\n]*:)");
    }

    private Optional<CodeFolder> folder(String name) {
        List<CodeFolder> folders = code.folders();
        return folders.stream()
                .filter(folder -> folder.copy().equals(name) || folder.origin().equals(name))
                .findFirst();
    }
}
