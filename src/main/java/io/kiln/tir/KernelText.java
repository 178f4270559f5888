// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The C text of a micro-kernel, from a file under {@code kernels/<operator>/} or {@code kernels/<instruction set>/} among the resources.
 *
 * <p>Such a file is C that an editor, a linter and a compiler can read unchanged. Its head, up to the first empty line,
 * is only for them: it includes what the kernel uses and defines the kernel's parameters as macros with an example
 * value. The rest is printed into models after {@link #with} gave every parameter a value. A parameter replaces whole
 * identifiers, or calls if it has arguments; alone on a line, its value replaces the whole line and consists of whole
 * lines, or none.
 */
public final class KernelText {
    private static final String ROOT = "/kernels/";
    private static final Pattern PARAMETER = Pattern.compile("#define ([A-Z0-9_]+)(?:\\(([a-z]+)\\))?(?: .*)?");
    private static final Pattern IDENTIFIER = Pattern.compile("\\b[A-Z][A-Z0-9_]*\\b");

    /** A parameter; the name of its argument if it is a macro with one. */
    private record Parameter(String name, Optional<String> argument) {}

    private final String file;
    private final String body;
    private final Map<String, Parameter> parameters;
    private final Map<String, String> values;

    private KernelText(String file, String body, Map<String, Parameter> parameters, Map<String, String> values) {
        this.file = file;
        this.body = body;
        this.parameters = parameters;
        this.values = values;
    }

    /**
     * Reads a file.
     *
     * @param name path under {@code kernels/} without its suffix, for example {@code dsp/kiln_smlad}
     * @throws IllegalArgumentException if there is no such file, or it has no head
     */
    public static KernelText of(String name) {
        String file = name + ".h";
        String text = read(file);
        int head = text.indexOf("\n\n");
        if (head < 0) {
            throw new IllegalArgumentException(file + " has no empty line behind its head");
        }
        Map<String, Parameter> parameters = new HashMap<>();
        text.substring(0, head)
                .lines()
                .map(PARAMETER::matcher)
                .filter(Matcher::matches)
                .forEach(m -> parameters.put(m.group(1), new Parameter(m.group(1), Optional.ofNullable(m.group(2)))));
        return new KernelText(file, text.substring(head + 2), parameters, Map.of());
    }

    /** The C name that a file without parameters defines: the last part of its path. */
    static String name(String file) {
        return file.substring(file.lastIndexOf('/') + 1);
    }

    private static String read(String file) {
        try (InputStream in = KernelText.class.getResourceAsStream(ROOT + file)) {
            if (in == null) {
                throw new IllegalArgumentException("no kernel file " + file);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The same text with a value for a parameter.
     *
     * @throws IllegalArgumentException if the file has no such parameter
     */
    public KernelText with(String parameter, String value) {
        if (!parameters.containsKey(parameter)) {
            throw new IllegalArgumentException(file + " has no parameter " + parameter);
        }
        Map<String, String> more = new HashMap<>(values);
        more.put(parameter, value);
        return new KernelText(file, body, parameters, Map.copyOf(more));
    }

    /** The same text with a number for a parameter. */
    public KernelText with(String parameter, int value) {
        return with(parameter, Integer.toString(value));
    }

    /**
     * The text printed into a model.
     *
     * @throws IllegalArgumentException if a parameter has no value
     */
    public String text() {
        List<String> missing = new ArrayList<>(parameters.keySet());
        missing.removeAll(values.keySet());
        if (!missing.isEmpty()) {
            throw new IllegalArgumentException(file + " needs values for " + missing);
        }
        if (parameters.isEmpty()) {
            return body;
        }
        StringBuilder out = new StringBuilder();
        body.lines().forEach(line -> {
            String alone = line.strip();
            out.append(values.containsKey(alone) ? values.get(alone) : expand(line) + "\n");
        });
        return out.toString();
    }

    private String expand(String text) {
        StringBuilder out = new StringBuilder();
        Matcher found = IDENTIFIER.matcher(text);
        int copied = 0;
        for (int from = 0; found.find(from); from = Math.max(copied, found.end())) {
            Parameter parameter = parameters.get(found.group());
            if (parameter == null) {
                continue;
            }
            out.append(text, copied, found.start());
            String value = values.get(parameter.name());
            if (parameter.argument().isPresent()) {
                copied = closing(text, found.end()) + 1;
                String given = expand(text.substring(found.end() + 1, copied - 1));
                out.append(
                        value.replaceAll("\\b" + parameter.argument().get() + "\\b", Matcher.quoteReplacement(given)));
            } else {
                copied = found.end();
                out.append(value);
            }
        }
        return out.append(text.substring(copied)).toString();
    }

    /** Position of the matching closing parenthesis. */
    private int closing(String text, int open) {
        int depth = 0;
        for (int i = open; i < text.length(); i++) {
            depth += text.charAt(i) == '(' ? 1 : text.charAt(i) == ')' ? -1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        throw new IllegalArgumentException(file + " has an unclosed call: " + text.strip());
    }
}
