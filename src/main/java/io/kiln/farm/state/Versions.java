// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.state;

/** Compares versions of Kiln. */
final class Versions {
    private Versions() {}

    /** Whether one is older than another, by their numbers; a version with a word such as {@code SNAPSHOT} is older than the one without. */
    static boolean isOlder(String one, String other) {
        String[] left = one.split("[.-]", -1);
        String[] right = other.split("[.-]", -1);
        for (int i = 0; i < Math.min(left.length, right.length); i++) {
            int order = Integer.compare(number(left[i]), number(right[i]));
            if (order != 0) {
                return order < 0;
            }
        }
        return left.length != right.length
                && number(left.length > right.length ? left[right.length] : right[left.length]) < 0
                        == left.length > right.length;
    }

    /** A part's number; less than all numbers if it is none. */
    private static int number(String part) {
        return part.matches("[0-9]{1,6}") ? Integer.parseInt(part) : -1;
    }
}
