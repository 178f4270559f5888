// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.Map;

/** Text with {@code @NAMES@} that stand for values. */
public final class TextTemplate {
    private TextTemplate() {}

    /**
     * The text with its values, in one pass, so that values are never taken for names. A name without a value stays as it is.
     *
     * @param values by name, without the signs around it
     */
    public static String filled(String template, Map<String, String> values) {
        StringBuilder out = new StringBuilder();
        String[] parts = template.split("@", -1);
        for (int i = 0; i < parts.length; i++) {
            boolean isName = i > 0 && i < parts.length - 1 && values.containsKey(parts[i]);
            if (isName) {
                out.append(values.get(parts[i])).append(parts[++i]);
            } else {
                out.append(i == 0 ? "" : "@").append(parts[i]);
            }
        }
        return out.toString();
    }
}
