// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import java.util.Set;
import java.util.regex.Pattern;

/**
 * The input sections that an untrusted linker script may place: patterns of files, which begin with * so that linkers
 * match and never open them, and patterns of sections, sorted or kept.
 */
final class InputSections {
    /** Deepest nesting of sorts that is accepted; linkers support two. */
    private static final int DEEPEST = 4;

    private static final Set<String> SORTS = Set.of(
            "KEEP", "SORT", "SORT_BY_NAME", "SORT_BY_ALIGNMENT", "SORT_BY_INIT_PRIORITY", "SORT_NONE", "REVERSE");

    private static final Pattern FILES = Pattern.compile("\\*[A-Za-z0-9_.*?+-]*:?");
    private static final Pattern SECTIONS = Pattern.compile("[A-Za-z0-9_.*?-]+");
    private static final Pattern FROM_COMPILER =
            Pattern.compile("\\.(?:z?debug|stab|ctf|gnu\\.linkonce\\.w|gnu\\.debuglto).*");

    private final ScriptTokens tokens;

    InputSections(ScriptTokens tokens) {
        this.tokens = tokens;
    }

    /** Debug information of any file; a script may place the compiler's, but not add any. */
    void ofDebugInformation() {
        tokens.next(Pattern.compile("\\*"), "* and sections of debug information");
        tokens.expect("(");
        while (!tokens.take(")")) {
            tokens.next(FROM_COMPILER, "sections of debug information");
        }
    }

    /** An input section, which may be sorted or kept. */
    void next() {
        if (SORTS.contains(tokens.peek())) {
            tokens.skip();
            tokens.expect("(");
            input();
            tokens.expect(")");
        } else {
            input();
        }
    }

    /** A pattern of files, and patterns of sections in parentheses. */
    private void input() {
        tokens.next(FILES, "a pattern of files that begins with *");
        if (tokens.take("(")) {
            while (!tokens.take(")")) {
                patterns();
            }
        }
    }

    private void patterns() {
        patterns(DEEPEST);
    }

    private void patterns(int levels) {
        if (levels == 0) {
            throw tokens.refused("more than " + DEEPEST + " nested sorts");
        }
        if (tokens.take("EXCLUDE_FILE")) {
            tokens.expect("(");
            while (!tokens.take(")")) {
                tokens.next(FILES, "a pattern of files that begins with *");
            }
        } else if (SORTS.contains(tokens.peek()) && tokens.peekBehind().equals("(")) {
            tokens.skip();
            tokens.expect("(");
            while (!tokens.take(")")) {
                patterns(levels - 1);
            }
        } else {
            tokens.next(SECTIONS, "a pattern of sections");
            tokens.take(",");
        }
    }
}
