// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import java.util.regex.Pattern;

/**
 * Finds the end of a name after {@code %}. TVM prints a variable's name as in the model, such as {@code
 * serving_default_x:0} or {@code a/b;c-1}; the following characters decide whether one belongs to the name.
 */
final class LocalNames {
    /** Characters within a name if a letter or digit follows. */
    private static final String INNER = ".:;-+/";

    private static final Pattern TYPE =
            Pattern.compile("(?:Tensor\\s*\\[|(?:u?int|float|bfloat)[0-9]+\\b|bool\\b|fn\\b).*", Pattern.DOTALL);

    /** Largest length of a type's name. */
    private static final int TYPE_LENGTH = 16;

    private LocalNames() {}

    /** Index after the name that begins at an index. */
    static int end(String text, int from) {
        int end = from;
        while (isPart(text, end)) {
            end++;
        }
        boolean isTemporary = text.substring(from, end).chars().allMatch(Character::isDigit);
        while (!isTemporary && end < text.length() && continues(text, end)) {
            end++;
        }
        return end;
    }

    /** A letter, digit or underscore, of any alphabet. */
    static boolean isPart(String text, int index) {
        return index < text.length() && (text.charAt(index) == '_' || Character.isLetterOrDigit(text.charAt(index)));
    }

    private static boolean continues(String text, int index) {
        char c = text.charAt(index);
        return isPart(text, index)
                || (INNER.indexOf(c) >= 0 && isPart(text, index + 1) && !(c == ':' && isType(text, index + 1)));
    }

    /** Whether a type follows, as in {@code %x:int8}. */
    private static boolean isType(String text, int index) {
        return TYPE.matcher(text.substring(index, Math.min(text.length(), index + TYPE_LENGTH)))
                .matches();
    }
}
