// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The lines that begin with # in preprocessed C: line markers, which name the source of the text, and pragmas of a
 * short list. Other pragmas can read files, rename symbols or pass arguments to the linker.
 */
final class DirectiveLines {
    private static final Pattern MARKER =
            Pattern.compile("# ([0-9]{1,9}) \"((?:[^\"\\\\]|\\\\\\\\)*+)\"((?: [1-4]){0,4})\\s*");
    private static final Pattern PSEUDO_FILE = Pattern.compile("<built-in>|<command[ -]line>");

    private static final List<Pattern> PRAGMAS = List.of(
            Pattern.compile("once"),
            Pattern.compile("pack\\s*\\(\\s*(?:(?:push|pop)\\s*,?\\s*)?[0-9]{0,2}\\s*\\)"),
            Pattern.compile("(?:GCC|clang) diagnostic (?:push|pop|(?:ignored|warning|error)\\s+\"-W[a-z0-9=+-]+\")"),
            Pattern.compile("(?:GCC )?(?:unroll|nounroll)\\s*(?:\\(?\\s*[0-9]{1,4}\\s*\\)?)?"),
            Pattern.compile("GCC ivdep"),
            Pattern.compile("clang loop(?: [a-z_]+\\s*\\(\\s*[a-z0-9_]+\\s*\\)){1,16}"),
            Pattern.compile("STDC (?:FP_CONTRACT|FENV_ACCESS|CX_LIMITED_RANGE) (?:ON|OFF|DEFAULT)"));
    private static final Pattern PRAGMA = Pattern.compile("#\\s*pragma\\s+(.*)");

    private final Predicate<String> isKnown;
    private String file = "<text>";
    private int line = 1;

    /**
     * Starts at the beginning of a text.
     *
     * @param isKnown whether a line marker may name a file
     */
    DirectiveLines(Predicate<String> isKnown) {
        this.isKnown = isKnown;
    }

    String file() {
        return file;
    }

    int line() {
        return line;
    }

    /** Goes on to the next line, at the end of one. */
    void nextLine() {
        line++;
    }

    /** Handles a line that begins with #. */
    void read(String text, Consumer<String> refuse) {
        Matcher marker = MARKER.matcher(text);
        if (marker.matches()) {
            mark(marker, refuse);
            return;
        }
        Matcher pragma = PRAGMA.matcher(text);
        if (!pragma.matches()) {
            refuse.accept("the directive " + Refusals.shown(text));
        } else if (PRAGMAS.stream()
                .noneMatch(allowed -> allowed.matcher(pragma.group(1).strip()).matches())) {
            refuse.accept("the pragma " + Refusals.shown(pragma.group(1)));
        }
    }

    private void mark(Matcher marker, Consumer<String> refuse) {
        String name = marker.group(2).replace("\\\\", "\\");
        if (!PSEUDO_FILE.matcher(name).matches()) {
            if (isKnown.test(name)) {
                file = name;
            } else {
                refuse.accept("a line marker for " + Refusals.shown(name) + ", which is not a file of the project");
            }
        }
        // The end of this line adds one.
        line = Integer.parseInt(marker.group(1)) - 1;
    }
}
