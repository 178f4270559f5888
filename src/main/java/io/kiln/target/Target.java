// SPDX-License-Identifier: Apache-2.0
package io.kiln.target;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Printable;
import io.kiln.base.Problems;
import io.kiln.base.TargetText;
import io.kiln.base.TargetText.Word;
import io.kiln.target.CpuFeatures.CortexM;
import io.kiln.target.CpuFeatures.RiscV;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * A compilation target in microTVM's terms, such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=stm32f405}.
 *
 * <p>Canonical form: the kind, then {@code -keys}, then the other attributes sorted by name; empty values, {@code host}
 * and {@code tag} are omitted. Names and values have the characters of {@link TargetText}.
 *
 * @param kind kind of code generator
 * @param keys keys that select schedules, most specific first
 * @param attributes values by name, without the leading dash and without {@code keys}
 */
public record Target(TargetKind kind, List<String> keys, SortedMap<String, String> attributes) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]*");
    private static final Set<String> NOT_PRINTED = Set.of("host", "tag");

    /** Adds keys: those given, then the device's, then the CPU's or the kind's own. */
    public Target {
        TreeMap<String, String> kept = new TreeMap<>();
        attributes.forEach((name, value) -> {
            check(NAME.matcher(name).matches() && !name.equals("keys"), "`" + name + "` cannot name an attribute");
            check(value.isEmpty() || TargetText.isWord(value), "`" + value + "` cannot be the value of `" + name + "`");
            if (!value.isEmpty() && !NOT_PRINTED.contains(name)) {
                kept.put(name, value);
            }
        });
        String device = kept.getOrDefault("device", "device");
        check(NAME.matcher(device).matches(), "`" + device + "` cannot be a device");
        for (String key : keys) {
            check(NAME.matcher(key).matches(), "`" + key + "` cannot be a key");
        }
        attributes = Collections.unmodifiableSortedMap(kept);
        keys = allKeys(keys, kept);
    }

    /**
     * Reads a target string. Attributes may be written {@code -name=value}, {@code --name=value}, {@code -name value}, or
     * {@code -name} alone, which means 1.
     *
     * @throws KilnException with all errors and their columns
     */
    public static Target parse(String text) {
        return new TargetParser(text).parse();
    }

    /** The canonical string; {@link #parse} reads it back to an equal target. */
    public String text() {
        StringBuilder text = new StringBuilder(kind.text()).append(" -keys=").append(String.join(",", keys));
        attributes.forEach(
                (name, value) -> text.append(" -").append(name).append('=').append(value));
        return text.toString();
    }

    public Optional<String> attribute(String name) {
        return Optional.ofNullable(attributes.get(name));
    }

    /** The CPU with its extensions, such as {@code cortex-m33+nodsp}. */
    public Optional<String> mcpu() {
        return attribute("mcpu");
    }

    public CpuFeatures features() {
        return CpuFeatures.of(this);
    }

    @Override
    public String toString() {
        return text();
    }

    private static List<String> allKeys(List<String> given, SortedMap<String, String> attributes) {
        Set<String> all = new LinkedHashSet<>(given);
        Optional.ofNullable(attributes.get("device")).ifPresent(all::add);
        if (CortexM.find(attributes.getOrDefault("mcpu", "")).isPresent()) {
            all.add("arm_cpu");
            all.add("cpu");
        } else if (given.isEmpty()) {
            all.add("cpu");
        }
        return List.copyOf(all);
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw Failure.TARGET.exception(what, "target");
        }
    }

    /** Parses one target string. Columns in messages count from 1. */
    private static final class TargetParser {
        private static final Set<String> ALIGNMENTS = Set.of("workspace-byte-alignment", "constants-byte-alignment");

        private final String text;
        private final Problems problems = new Problems(Failure.TARGET);
        private final TreeMap<String, String> attributes = new TreeMap<>();
        private List<String> keys = List.of();

        TargetParser(String text) {
            this.text = text;
        }

        Target parse() {
            OptionalInt wrong = TargetText.wrongLetter(text);
            if (wrong.isPresent()) {
                throw refused(wrong.getAsInt());
            }
            List<Word> words = TargetText.words(text);
            for (int i = 1; i < words.size(); i++) {
                if (words.get(i - 1).text().endsWith(",")
                        && !words.get(i).text().startsWith("-")) {
                    throw Failure.TARGET.exception(
                            "code for composite targets cannot be generated",
                            place(words.get(i).column()),
                            "one target of the kind " + TargetText.HOSTS,
                            "Remove the other targets");
                }
            }
            Optional<TargetKind> kind = words.isEmpty()
                    ? Optional.empty()
                    : TargetKind.find(words.get(0).text());
            if (words.isEmpty()) {
                problem("the target is empty", 1, "the kind " + TargetText.HOSTS + ", then attributes", "");
            } else if (kind.isEmpty()) {
                problem(
                        "unknown target kind `" + words.get(0).text() + "`",
                        words.get(0).column(),
                        TargetText.HOSTS,
                        "");
            }
            int next = 1;
            while (next < words.size()) {
                next = attribute(kind, words, next);
            }
            problems.throwIfAny();
            return new Target(kind.orElseThrow(), keys, attributes);
        }

        /** Reads the attribute at an index; returns the index after it. */
        private int attribute(Optional<TargetKind> kind, List<Word> words, int index) {
            Word word = words.get(index);
            if (word.text().length() < 2 || !word.text().startsWith("-")) {
                problem("`" + word.text() + "` is not an attribute", word.column(), "-name=value or -name value", "");
                return index + 1;
            }
            int begin = word.text().startsWith("--") ? 2 : 1;
            int equals = word.text().indexOf('=');
            if (equals >= 0) {
                String name = word.text().substring(Math.min(begin, equals), equals);
                put(kind, word, name, word.text().substring(equals + 1));
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
                        "target kind `" + kind.get().text() + "` has no attribute `-" + name + "`",
                        word.column(),
                        "one of " + kind.get().attributes(),
                        "");
            } else if (ALIGNMENTS.contains(name) && !value.matches("1|2|4|8|16|32|64|128|256")) {
                problem("`-" + name + "` is `" + value + "`", word.column(), "a power of two from 1 to 256", "");
            } else if (name.equals(InstructionCache.SIZE) && !InstructionCache.isSize(value)) {
                problem("`-" + name + "` is `" + value + "`", word.column(), InstructionCache.SIZES, "");
            } else if (name.equals(InstructionCache.LINE) && !InstructionCache.isLine(value)) {
                problem("`-" + name + "` is `" + value + "`", word.column(), InstructionCache.LINES, "");
            } else if (name.equals("keys") ? !keys.isEmpty() : attributes.containsKey(name)) {
                problem("`-" + name + "` is given twice", word.column(), "", "Remove one of them");
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
                        "`" + value + "` is not a RISC-V architecture",
                        word.column(),
                        "rv32 or rv64, then extensions, such as rv32imac",
                        "");
            }
        }

        private KilnException refused(int index) {
            boolean isTooLong = index >= TargetText.MAX_LENGTH;
            String letter = Printable.line(text.substring(index, text.offsetByCodePoints(index, 1)));
            return Failure.TARGET.exception(
                    isTooLong ? "the target is too long" : "`" + letter + "` is not allowed in a target",
                    place(index + 1),
                    isTooLong ? "at most " + TargetText.MAX_LENGTH + " characters" : TargetText.LETTERS,
                    "");
        }

        private String place(int column) {
            return "target `" + text.substring(0, Math.min(text.length(), TargetText.MAX_LENGTH)) + "`, column "
                    + column;
        }

        private void problem(String what, int column, String expected, String next) {
            problems.add(what, place(column), expected, next);
        }
    }
}
