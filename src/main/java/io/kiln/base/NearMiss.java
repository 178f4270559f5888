// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Suggests known names for misspelled ones. */
public final class NearMiss {
    private static final int SUGGESTIONS = 3;

    /** Limit that keeps very long names from costing time. */
    private static final int MAX_COMPARED = 200;

    private NearMiss() {}

    /** A question that offers the known names nearest to a name, nearest first; empty if none is near. */
    public static String didYouMean(String name, Collection<String> known) {
        if (name.length() > MAX_COMPARED) {
            return "";
        }
        List<String> near = known.stream()
                .filter(k -> k.length() <= MAX_COMPARED && isNear(name, k))
                .sorted(Comparator.<String>comparingInt(k -> distance(name, k)).thenComparing(k -> k))
                .limit(SUGGESTIONS)
                .toList();
        return question(near);
    }

    private static String question(List<String> near) {
        return near.isEmpty() ? "" : "Did you mean " + String.join(" or ", near) + "?";
    }

    private static boolean isNear(String name, String known) {
        int most = Math.max(name.length(), known.length()) / 2;
        // That many letters more are at least that far away.
        boolean mayBe = Math.abs(name.length() - known.length()) <= most;
        return (!name.isEmpty() && known.contains(name)) || (mayBe && distance(name, known) <= most);
    }

    /** The same question for names of several words, as {@link #ofWords} finds them. */
    public static String didYouMeanWords(String name, Collection<String> known) {
        return question(ofWords(name, known));
    }

    /**
     * The known names nearest to a name of several words, such as {@code kiln.verify.vectors}, best first. The first kind of likeness
     * that holds for any decides: the same words (whatever separates them, in British spelling, in the plural), the same in another order,
     * a few letters wrong, one the beginning of the other, the same last word.
     */
    public static List<String> ofWords(String name, Collection<String> known) {
        Words given = Words.of(name);
        if (name.length() > MAX_COMPARED || given.words.size() < 2) {
            return List.of();
        }
        List<BiPredicate<Words, Words>> likenesses = List.of(
                (a, b) -> a.joined().equals(b.joined()),
                (a, b) -> a.sorted().equals(b.sorted()),
                Words::isMisspelled,
                Words::isBeginningOf,
                (a, b) -> b.isBeginningOf(a),
                (a, b) -> a.last().equals(b.last()));
        return likenesses.stream()
                .map(alike -> known.stream()
                        .filter(each -> each.length() <= MAX_COMPARED && alike.test(given, Words.of(each)))
                        .sorted(Comparator.<String>comparingInt(each -> distance(name, each))
                                .thenComparing(each -> each))
                        .limit(SUGGESTIONS)
                        .toList())
                .filter(near -> !near.isEmpty())
                .findFirst()
                .orElse(List.of());
    }

    /** The Damerau-Levenshtein distance: number of inserted, deleted, replaced and swapped characters. */
    public static int distance(String a, String b) {
        char[] letters = b.toCharArray();
        int[] before = new int[letters.length + 1];
        int[] last = new int[letters.length + 1];
        int[] row = new int[letters.length + 1];
        Arrays.setAll(last, j -> j);
        for (int i = 1; i <= a.length(); i++) {
            char letter = a.charAt(i - 1);
            char previous = i > 1 ? a.charAt(i - 2) : 0;
            row[0] = i;
            for (int j = 1; j <= letters.length; j++) {
                int replaced = last[j - 1] + (letter == letters[j - 1] ? 0 : 1);
                row[j] = Math.min(replaced, 1 + Math.min(last[j], row[j - 1]));
                if (i > 1 && j > 1 && letter == letters[j - 2] && previous == letters[j - 1]) {
                    row[j] = Math.min(row[j], before[j - 2] + 1);
                }
            }
            int[] free = before;
            before = last;
            last = row;
            row = free;
        }
        return last[letters.length];
    }

    /**
     * The words of a name, in lower case, American spelling and the singular.
     *
     * @param lastPart number of letters behind the last dot
     */
    private record Words(List<String> words, int lastPart) {
        static Words of(String name) {
            List<String> words = Stream.of(
                            name.replaceAll("([a-z0-9])([A-Z])", "$1.$2").split("[^A-Za-z0-9]+", -1))
                    .filter(word -> !word.isEmpty())
                    .map(word -> word.toLowerCase(Locale.ROOT))
                    .map(word ->
                            word.replaceAll("is(e|ed|er|ing|ation)$", "iz$1").replaceAll("our$", "or"))
                    .map(word -> word.length() > 3 && word.endsWith("s") && !word.endsWith("ss")
                            ? word.substring(0, word.length() - 1)
                            : word)
                    .toList();
            return new Words(words, name.length() - name.lastIndexOf('.') - 1);
        }

        String joined() {
            return String.join("", words);
        }

        String sorted() {
            return words.stream().sorted().collect(Collectors.joining("."));
        }

        String last() {
            return words.isEmpty() ? "" : words.get(words.size() - 1);
        }

        /** Whether it is the beginning of the other, and at least half of it behind the first word. */
        boolean isBeginningOf(Words other) {
            int first = other.words.get(0).length();
            return other.joined().startsWith(joined())
                    && 2 * (joined().length() - first) >= other.joined().length() - first;
        }

        boolean isMisspelled(Words other) {
            return distance(joined(), other.joined()) <= Math.max(1, lastPart / 4);
        }
    }
}
