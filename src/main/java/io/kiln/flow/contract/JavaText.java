// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.contract;

import io.kiln.base.CText;
import java.util.Locale;

/** Puts text from elsewhere into Java source code. */
final class JavaText {
    private JavaText() {}

    /** A string constant. All but plain characters are escaped, so that the text can end neither the constant nor the line. */
    static String literal(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format(Locale.ROOT, "\\%03o", (int) c));
            } else if (c > '~') {
                out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }

    /** Text in a comment. Java reads escapes even there, so that a backslash becomes a slash. */
    static String comment(String text) {
        return CText.comment(text.replace('\\', '/')).replace("@", "(at)");
    }

    /** A class's name from a model's: {@code VisualWakeWords} from {@code visual_wake_words}. */
    static String className(String model) {
        StringBuilder out = new StringBuilder();
        for (String word : model.split("_+", -1)) {
            if (!word.isEmpty()) {
                out.append(word.substring(0, 1).toUpperCase(Locale.ROOT)).append(word.substring(1));
            }
        }
        return out.toString();
    }
}
