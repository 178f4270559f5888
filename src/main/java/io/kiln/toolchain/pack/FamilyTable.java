// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.ResourceTree;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * What is known of families of devices beside their packs: a pattern of their names and a text in each line of a file.
 *
 * @param rows in the order of the file
 */
record FamilyTable(List<Row> rows) {
    private record Row(Pattern pattern, String text) {}

    /** Reads a file of Kiln's own. */
    static FamilyTable read(String file) {
        return new FamilyTable(ResourceTree.read(BoardWriter.FOLDER)
                .get(file)
                .text()
                .lines()
                .filter(line -> !line.startsWith("#") && line.indexOf(' ') > 0)
                .map(line -> new Row(
                        Pattern.compile(line.substring(0, line.indexOf(' '))), line.substring(line.indexOf(' ') + 1)))
                .toList());
    }

    /** The texts of all patterns that a device's name begins with, in the order of the file. */
    List<String> find(String device) {
        String name = device.toUpperCase(Locale.ROOT);
        return rows.stream()
                .filter(row -> row.pattern.matcher(name).lookingAt())
                .map(row -> row.text)
                .toList();
    }
}
