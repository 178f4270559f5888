// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
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
     * The error in a model's name, if any; {@code default}, TVM's own choice, is allowed although it is a keyword.
     *
     * @param where the model's file or the parameter, for the message
     */
    public static Optional<Problem> modelNameProblem(String name, String where) {
        if (!MODEL_NAME.matcher(name).matches()) {
            return Optional.of(Failure.CONFIG.problem(
                    "the model name `" + name + "` cannot be part of a C name",
                    where,
                    "a letter, then letters, digits and underscores",
                    "Set kiln.name, or <name> in <models>"));
        }
        if (KEYWORDS.contains(name) && !name.equals("default")) {
            return Optional.of(Failure.CONFIG.problem(
                    "the model name `" + name + "` is a keyword of C",
                    where,
                    "another name",
                    "Set kiln.name, or <name> in <models>"));
        }
        return Optional.empty();
    }

    /** Whether a name is a keyword of C or C++. */
    public static boolean isKeyword(String name) {
        return KEYWORDS.contains(name);
    }

    /** A tensor's name with an underscore for every byte that C does not allow. */
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
     * @throws io.kiln.base.KilnException listing names that become equal, in C or in the upper case of macros
     */
    public static List<String> tensors(String model, List<String> inputs, List<String> outputs) {
        List<String> names = new ArrayList<>();
        Map<String, String> taken = new HashMap<>();
        Problems problems = new Problems(Failure.CONFIG);
        for (int i = 0; i < inputs.size() + outputs.size(); i++) {
            boolean isInput = i < inputs.size();
            int index = isInput ? i : i - inputs.size();
            String original = isInput ? inputs.get(index) : outputs.get(index);
            String name = sanitize(original, (isInput ? "input" : "output") + index);
            String other = taken.putIfAbsent(name.toUpperCase(Locale.ROOT), original);
            if (other != null) {
                problems.add(Failure.CONFIG.problem(
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
