// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

/** Which names artifacts may have. The checks make no objects: sets of artifacts are read from files of others. */
final class ArtifactNames {
    private static final int MOST_CHARACTERS = 200;
    private static final int MOST_SEGMENTS = 41;

    private ArtifactNames() {}

    /** Whether it is 1 to 200 letters, digits and {@code _ . -}, not only dots. */
    static boolean isName(String name) {
        return isSegment(name, 0, name.length(), false);
    }

    /** Whether it is 1 to 41 such names, which may also have {@code +}, with {@code /} between them. */
    static boolean isFileName(String name) {
        int start = 0;
        for (int segments = 1; segments <= MOST_SEGMENTS; segments++) {
            int end = name.indexOf('/', start);
            if (end < 0) {
                return isSegment(name, start, name.length(), true);
            }
            if (!isSegment(name, start, end, true)) {
                return false;
            }
            start = end + 1;
        }
        return false;
    }

    private static boolean isSegment(String name, int start, int end, boolean isFile) {
        boolean isDots = true;
        for (int i = start; i < end; i++) {
            char c = name.charAt(i);
            boolean isAllowed = isBetween('A', c, 'Z')
                    || isBetween('a', c, 'z')
                    || isBetween('0', c, '9')
                    || c == '_'
                    || c == '.'
                    || c == '-'
                    || (isFile && c == '+');
            if (!isAllowed) {
                return false;
            }
            isDots &= c == '.';
        }
        return end > start && end - start <= MOST_CHARACTERS && !isDots;
    }

    private static boolean isBetween(char first, char c, char last) {
        return first <= c && c <= last;
    }
}
