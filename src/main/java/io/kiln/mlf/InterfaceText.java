// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a model's {@code tvmgen_<name>.h} says that metadata does not: order of tensors, who owns memory, what else a run needs. */
final class InterfaceText {
    private static final Pattern MEMBER = Pattern.compile("(\\w+)\\s*;");
    private static final int MOST_DIGITS = 12;

    private final String prefix;
    private final String text;

    /**
     * A header.
     *
     * @param model the model's name; names in the header are in lower case whatever it is
     * @param text the header's content
     */
    InterfaceText(String model, String text) {
        this.prefix = prefix(model);
        this.text = text;
    }

    /** What a model's names in C begin with. */
    static String prefix(String model) {
        return "tvmgen_" + model.toLowerCase(Locale.ROOT);
    }

    /** {@code struct tvmgen_<name>_<what>}. */
    String struct(String what) {
        return "struct " + prefix + "_" + what;
    }

    boolean has(String what) {
        return text.contains(struct(what) + " {");
    }

    /** The members of a struct in their order; empty if there is no such struct. */
    List<String> members(String what) {
        List<String> members = new ArrayList<>();
        String opening = struct(what) + " {";
        int begin = text.indexOf(opening);
        int end = begin < 0 ? -1 : text.indexOf('}', begin);
        if (end >= 0) {
            Matcher matcher = MEMBER.matcher(text.substring(begin + opening.length(), end));
            while (matcher.find()) {
                members.add(matcher.group(1));
            }
        }
        return members;
    }

    /** Whether inputs and outputs lie in the workspace. */
    boolean mapsInputs() {
        return text.contains(prefix + "_map_inputs");
    }

    /** The macro that says how large an external pool is. */
    OptionalLong poolBytes(String pool) {
        String macro = (prefix + "_" + pool).toUpperCase(Locale.ROOT) + "_WORKSPACE_POOL_SIZE";
        Matcher matcher = Pattern.compile("#define\\s+" + macro + "\\s+\\(?(\\d{1," + MOST_DIGITS + "})\\b")
                .matcher(text);
        return matcher.find() ? OptionalLong.of(Long.parseLong(matcher.group(1))) : OptionalLong.empty();
    }
}
