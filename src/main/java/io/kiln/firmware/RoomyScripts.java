// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.WholeFiles;
import io.kiln.toolchain.board.Board;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Copies of a board's linker scripts in which every memory is 64 MiB larger. An image that overflows a memory links
 * with them and can be measured as a whole; GNU ld and LLD stop at the first sections that do not fit and report only
 * the excess.
 */
final class RoomyScripts {
    private static final Pattern MEMORY = Pattern.compile("\\bMEMORY\\s*\\{[^}]*}");

    /** {@code LENGTH}, {@code len} and {@code l} mean the same; the value ends at the line's end or the closing brace. */
    private static final Pattern LENGTH = Pattern.compile("\\b(LENGTH|len|l)\\s*=\\s*([^\\n};]+?)\\s*(?=/\\*|[\\n}])");

    private RoomyScripts() {}

    /** Writes all of the board's scripts into the folder. */
    static void write(Board board, Path folder) {
        board.files().forEach((name, content) -> {
            if (name.endsWith(".ld")) {
                WholeFiles.write(folder.resolve(name), enlarge(content.text()));
            }
        });
    }

    static String enlarge(String script) {
        return MEMORY.matcher(script)
                .replaceAll(block ->
                        Matcher.quoteReplacement(LENGTH.matcher(block.group()).replaceAll("$1 = ($2) + 64M")));
    }
}
