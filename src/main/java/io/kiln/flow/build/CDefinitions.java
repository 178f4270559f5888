// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.firmware.SourceText;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the functions that a C file defines for other files. */
final class CDefinitions {
    /** Directives, with the lines that continue them. */
    private static final Pattern DIRECTIVE = Pattern.compile("(?m)^[ \\t]*#(?:[^\\n\\\\]|\\\\\\r?\\n|\\\\)*+");

    /** A function's definition: a name, its parameters, the beginning of a body. */
    private static final Pattern DEFINITION = Pattern.compile("\\b([A-Za-z_][A-Za-z0-9_]*)\\s*\\([^(){};]*\\)\\s*\\{");

    /** What makes a function local to its file: {@code static}, and macros of CMSIS that stand for it. */
    private static final Pattern LOCAL = Pattern.compile("\\b(?:static|__STATIC_INLINE|__STATIC_FORCEINLINE)\\b");

    /** Keywords that precede parentheses and a block, as a function's name does. */
    private static final Set<String> STATEMENTS = Set.of("if", "while", "switch", "for");

    private CDefinitions() {}

    /** The names of functions that are not {@code static}; of several variants of one, which the preprocessor chooses from, one suffices. */
    static Set<String> of(String source) {
        String code = DIRECTIVE.matcher(SourceText.withoutComments(source)).replaceAll("");
        Set<String> names = new TreeSet<>();
        Matcher definition = DEFINITION.matcher(code);
        while (definition.find()) {
            String name = definition.group(1);
            if (!STATEMENTS.contains(name)
                    && !LOCAL.matcher(specifiers(code, definition.start())).find()) {
                names.add(name);
            }
        }
        return names;
    }

    /** The specifiers before a function's name, from the end of the declaration before it. */
    private static String specifiers(String code, int name) {
        int start = name;
        while (start > 0 && ";{}".indexOf(code.charAt(start - 1)) < 0) {
            start--;
        }
        return code.substring(start, name);
    }
}
