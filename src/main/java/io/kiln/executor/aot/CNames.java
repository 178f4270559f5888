// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.base.Problem;
import io.kiln.base.Problems;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Names of models and tensors as C identifiers, formed as microTVM forms them. */
public final class CNames {
    private static final Pattern MODEL_NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_]*");

    private static final Set<String> KEYWORDS = Set.of(
            "alignas",
            "alignof",
            "and",
            "asm",
            "auto",
            "bool",
            "break",
            "case",
            "catch",
            "char",
            "class",
            "compl",
            "const",
            "constexpr",
            "continue",
            "default",
            "delete",
            "do",
            "double",
            "else",
            "enum",
            "explicit",
            "export",
            "extern",
            "false",
            "float",
            "for",
            "friend",
            "goto",
            "if",
            "inline",
            "int",
            "long",
            "mutable",
            "namespace",
            "new",
            "not",
            "operator",
            "or",
            "private",
            "protected",
            "public",
            "register",
            "restrict",
            "return",
            "short",
            "signed",
            "sizeof",
            "static",
            "struct",
            "switch",
            "template",
            "this",
            "throw",
            "true",
            "try",
            "typedef",
            "typename",
            "union",
            "unsigned",
            "using",
            "virtual",
            "void",
            "volatile",
            "while",
            "xor");

    private CNames() {}

    /**
     * Checks a model's name; {@code default}, the name that TVM gives, is allowed although C reserves the bare word.
     *
     * @throws io.kiln.base.KilnException if it is no identifier or a keyword
     */
    public static void checkModelName(String name) {
        Problems problems = new Problems();
        if (!MODEL_NAME.matcher(name).matches()) {
            problems.add(
                    "model name `" + name + "` cannot be part of a C identifier",
                    "kiln.name",
                    "a letter, then letters, digits and underscores",
                    "Set kiln.name or <models><model><name>");
        } else if (KEYWORDS.contains(name) && !name.equals("default")) {
            problems.add("model name `" + name + "` is a C keyword", "kiln.name", "another word", "Set kiln.name");
        }
        problems.throwIfAny();
    }

    /** A tensor's name with every byte that C does not allow as an underscore. */
    static String sanitize(String name, String fallback) {
        if (name.isEmpty()) {
            return fallback;
        }
        StringBuilder out = new StringBuilder();
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            boolean allowed = (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9');
            out.append(allowed ? (char) b : '_');
        }
        if (Character.isDigit(out.charAt(0))) {
            out.insert(0, '_');
        }
        return KEYWORDS.contains(out.toString()) ? out + "_" : out.toString();
    }

    /**
     * C names of inputs, then outputs.
     *
     * @throws io.kiln.base.KilnException listing names that become the same, in C or in the upper case of macros
     */
    public static List<String> tensors(String model, List<String> inputs, List<String> outputs) {
        List<String> names = new ArrayList<>();
        Map<String, String> taken = new HashMap<>();
        Problems problems = new Problems();
        for (int i = 0; i < inputs.size() + outputs.size(); i++) {
            boolean isInput = i < inputs.size();
            int index = isInput ? i : i - inputs.size();
            String original = isInput ? inputs.get(index) : outputs.get(index);
            String name = sanitize(original, (isInput ? "input" : "output") + index);
            String other = taken.putIfAbsent(name.toUpperCase(Locale.ROOT), original);
            if (other != null) {
                problems.add(new Problem(
                        "tensor names `" + other + "` and `" + original + "` both become " + name + " in C",
                        "model " + model,
                        "names that differ in letters and digits",
                        "Rename one of them in the model"));
            }
            names.add(name);
        }
        problems.throwIfAny();
        return names;
    }
}
