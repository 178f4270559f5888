// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** JSON byte for byte as written by Python's {@code json.dump(value, indent=2, sort_keys=True)}. */
final class PythonJson {
    private final StringBuilder out = new StringBuilder();

    private PythonJson() {}

    /** Prints maps with string keys, lists, strings and integers. */
    static String print(Object value) {
        PythonJson json = new PythonJson();
        json.value(value, 0);
        return json.out.toString();
    }

    private void value(Object value, int depth) {
        if (value instanceof Map<?, ?> map) {
            TreeMap<String, Object> sorted = new TreeMap<>();
            map.forEach((key, item) -> sorted.put((String) key, item));
            Iterator<Map.Entry<String, Object>> entries = sorted.entrySet().iterator();
            block('{', '}', entries, depth, entry -> {
                string(entry.getKey());
                out.append(": ");
                value(entry.getValue(), depth + 1);
            });
        } else if (value instanceof List<?> list) {
            block('[', ']', list.iterator(), depth, item -> value(item, depth + 1));
        } else if (value instanceof String text) {
            string(text);
        } else {
            out.append(((Number) value).longValue());
        }
    }

    private <T> void block(char open, char close, Iterator<T> items, int depth, Consumer<T> print) {
        out.append(open);
        boolean isEmpty = !items.hasNext();
        while (items.hasNext()) {
            newLine(depth + 1);
            print.accept(items.next());
            out.append(items.hasNext() ? "," : "");
        }
        if (!isEmpty) {
            newLine(depth);
        }
        out.append(close);
    }

    private void newLine(int depth) {
        out.append('\n').append("  ".repeat(depth));
    }

    private void string(String text) {
        out.append('"');
        text.chars().forEach(c -> {
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                default -> {
                    if (c < ' ' || c > '~' + 1) {
                        out.append(String.format(Locale.ROOT, "\\u%04x", c));
                    } else {
                        out.append((char) c);
                    }
                }
            }
        });
        out.append('"');
    }
}
