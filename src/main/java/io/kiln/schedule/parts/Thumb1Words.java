// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import java.util.ArrayList;
import java.util.List;

/**
 * Numbers that a function for Armv6-M loads: as an immediate if they fit one, otherwise from words behind the function.
 */
public final class Thumb1Words {
    /** Furthest word, in bytes ahead of an instruction. */
    public static final int REACH = 1020;

    /** Local labels from this number on are those of the words. */
    private static final int FIRST_LABEL = 20;

    private final List<Integer> words = new ArrayList<>();

    /** Appends the instruction that loads a number; flags may change. */
    public void load(AsmText asm, String register, int value) {
        if (value >= 0 && value <= 255) {
            asm.line("movs %s, #%d", register, value);
            return;
        }
        if (!words.contains(value)) {
            words.add(value);
        }
        asm.line("ldr %s, %df", register, FIRST_LABEL + words.indexOf(value));
    }

    /** Appends the words, behind the function's last instruction. */
    public void emit(AsmText asm) {
        asm.line(".p2align 2");
        for (int i = 0; i < words.size(); i++) {
            asm.line("%d: .word %d", FIRST_LABEL + i, words.get(i));
        }
    }
}
