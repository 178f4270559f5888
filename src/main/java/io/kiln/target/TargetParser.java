// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import io.kiln.base.Problems;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Reads one target string. Columns in messages count from 1. */
final class TargetParser {
    private static final Set<String> ALIGNMENTS = Set.of("workspace-byte-alignment", "constants-byte-alignment");

    private final String text;
    private final Problems problems = new Problems();
    private final TreeMap<String, String> attributes = new TreeMap<>();
    private List<String> keys = List.of();

    TargetParser(String text) {
        this.text = text;
    }

    /**
     * A word between spaces, unquoted.
     *
     * @param text without quotes and backslashes
     * @param equals index of the first {@code =} outside quotes, or -1
     * @param column where it begins
     */
    private record Word(String text, int equals, int column) {
        boolean isAttribute() {
            return text.length() > 1 && text.startsWith("-");
        }
    }

    Target parse() {
        List<Word> words = words();
        Optional<TargetKind> kind = words.isEmpty()
                ? Optional.empty()
                : TargetKind.find(words.get(0).text());
        if (words.isEmpty()) {
            problem("the target is empty", 1, "a kind (" + TargetKind.all() + "), then attributes", "");
        } else if (kind.isEmpty()) {
            problem(
                    "unknown target kind `" + words.get(0).text() + "`",
                    words.get(0).column(),
                    TargetKind.all(),
                    "");
        }
        int next = 1;
        while (next < words.size()) {
            next = attribute(kind, words, next);
        }
        problems.throwIfAny();
        return new Target(words.get(0).text(), keys, attributes);
    }

    /** Reads the attribute at an index; returns the index after it. */
    private int attribute(Optional<TargetKind> kind, List<Word> words, int index) {
        Word word = words.get(index);
        if (!word.isAttribute()) {
            problem("`" + word.text() + "` stands alone", word.column(), "-name=value or -name value", "");
            return index + 1;
        }
        int begin = word.text().startsWith("--") ? 2 : 1;
        if (word.equals() >= 0) {
            put(
                    kind,
                    word,
                    word.text().substring(begin, word.equals()),
                    word.text().substring(word.equals() + 1));
            return index + 1;
        }
        boolean hasValue =
                index + 1 < words.size() && !words.get(index + 1).text().startsWith("-");
        put(
                kind,
                word,
                word.text().substring(begin),
                hasValue ? words.get(index + 1).text() : "1");
        return hasValue ? index + 2 : index + 1;
    }

    private void put(Optional<TargetKind> kind, Word word, String name, String value) {
        if (kind.isPresent() && !kind.get().understands(name)) {
            problem(
                    "target kind `" + kind.get().text() + "` does not know `-" + name + "`",
                    word.column(),
                    "one of " + kind.get().attributes(),
                    "");
        } else if (ALIGNMENTS.contains(name) && !value.matches("1|2|4|8|16|32|64|128|256")) {
            problem("`-" + name + "` is `" + value + "`", word.column(), "a power of two from 1 to 256", "");
        } else if (name.equals("keys") ? !keys.isEmpty() : attributes.containsKey(name)) {
            problem("`-" + name + "` is given twice", word.column(), "", "Leave one of them out");
        } else if (name.equals("keys")) {
            keys = keys(word, value);
        } else {
            checkCpu(name, value, word);
            attributes.put(name, value);
        }
    }

    private List<String> keys(Word word, String value) {
        List<String> read = Arrays.stream(value.split(",", -1))
                .map(String::strip)
                .distinct()
                .toList();
        if (read.stream().anyMatch(k -> !k.matches("[A-Za-z0-9_][A-Za-z0-9_.-]*"))) {
            problem("`-keys` is `" + value + "`", word.column(), "names with commas between them", "");
            return List.of();
        }
        return read;
    }

    private void checkCpu(String name, String value, Word word) {
        if (name.equals("mcpu")
                && value.startsWith("cortex-m")
                && CortexM.find(value).isEmpty()) {
            problem("unknown CPU `" + value + "`", word.column(), "one of " + CortexM.all(), "");
        } else if (name.equals("march")
                && value.startsWith("rv")
                && RiscV.parse(value).isEmpty()) {
            problem(
                    "`" + value + "` is no RISC-V architecture",
                    word.column(),
                    "rv32 or rv64, then extensions, such as rv32imac",
                    "");
        }
    }

    private List<Word> words() {
        List<Word> words = new ArrayList<>();
        StringBuilder word = new StringBuilder();
        boolean quoted = false;
        int quoteColumn = 0;
        int start = -1;
        int equals = -1;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isWhitespace(c) && !quoted) {
                if (start >= 0) {
                    words.add(new Word(word.toString(), equals, start + 1));
                }
                start = -1;
                continue;
            }
            if (start < 0) {
                start = i;
                equals = -1;
                word.setLength(0);
            }
            if (c == '\'') {
                quoted = !quoted;
                quoteColumn = i + 1;
            } else if (c == '\\' && i + 1 < text.length()) {
                word.append(text.charAt(++i));
            } else {
                if (c == '=' && !quoted && equals < 0) {
                    equals = word.length();
                }
                word.append(c);
            }
        }
        if (quoted) {
            problem("the quote is never closed", quoteColumn, "", "Close it, or write \\' for a quote");
        }
        if (start >= 0) {
            words.add(new Word(word.toString(), equals, start + 1));
        }
        return words;
    }

    private void problem(String what, int column, String expected, String next) {
        problems.add(what, "target `" + text + "`, column " + column, expected, next);
    }
}
