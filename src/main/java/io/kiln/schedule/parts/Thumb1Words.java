// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Numbers that a function for Armv6-M loads: as an immediate if they fit one, otherwise from words behind the function.
 */
public final class Thumb1Words {
    /** Furthest word, in bytes ahead of an instruction. */
    public static final int REACH = 1020;

    /** Local labels from this number on are those of the words. */
    private static final int FIRST_LABEL = 20;

    private final List<Integer> words = new ArrayList<>();

    /** The instruction that loads a number; flags may change. */
    public String load(String register, int value) {
        if (value >= 0 && value <= 255) {
            return "movs " + register + ", #" + value;
        }
        if (!words.contains(value)) {
            words.add(value);
        }
        return "ldr " + register + ", " + (FIRST_LABEL + words.indexOf(value)) + "f";
    }

    /** The words, for the place behind the function's last instruction. */
    public List<String> lines() {
        return IntStream.range(0, words.size())
                .mapToObj(i -> (FIRST_LABEL + i) + ": .word " + words.get(i))
                .toList();
    }
}
