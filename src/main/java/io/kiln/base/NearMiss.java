// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

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
        return near.isEmpty() ? "" : "Did you mean " + String.join(" or ", near);
    }

    private static boolean isNear(String name, String known) {
        boolean part = !name.isEmpty() && known.contains(name);
        return part || distance(name, known) <= Math.max(name.length(), known.length()) / 2;
    }

    /** The Levenshtein distance: number of inserted, deleted and replaced characters. */
    public static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
