// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.InterfaceNames.Side;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Facts from a model's {@code tvmgen_<name>.h} that metadata lacks: order of tensors, owner of memory, further needs of a run. */
final class InterfaceText {
    private static final Pattern MEMBER = Pattern.compile("(\\w+)\\s*;");
    private static final int MOST_DIGITS = 12;

    private final InterfaceNames names;
    private final String text;

    /**
     * @param model the model's name
     * @param text the header's content
     */
    InterfaceText(String model, String text) {
        this.names = new InterfaceNames(model);
        this.text = text;
    }

    /** The expected names in the header. */
    InterfaceNames names() {
        return names;
    }

    /** The members of a struct in order; empty if there is no such struct. */
    List<String> members(String struct) {
        List<String> members = new ArrayList<>();
        String opening = struct + " {";
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

    /** Whether programs place inputs and outputs in the workspace by the functions {@code map_inputs} and {@code map_outputs}. */
    boolean mapsInputs() {
        return text.contains(names.map(Side.INPUTS));
    }

    /** The macro with the size of an external workspace pool. */
    OptionalLong workspacePoolBytes(String pool) {
        return number(names.poolSize(pool));
    }

    /** The macro with the size of an external pool of constants. */
    OptionalLong constantPoolBytes(String pool) {
        return number(names.constantPoolSize(pool));
    }

    private OptionalLong number(String macro) {
        Matcher matcher = Pattern.compile("#define\\s+" + macro + "\\s+\\(?(\\d{1," + MOST_DIGITS + "})\\b")
                .matcher(text);
        return matcher.find() ? OptionalLong.of(Long.parseLong(matcher.group(1))) : OptionalLong.empty();
    }
}
