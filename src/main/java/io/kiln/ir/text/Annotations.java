// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.ir.Origin;
import java.util.Optional;

/** Comments of {@link RelayPrinter}: origins of operators, and names of constants. */
public final class Annotations {
    private static final String SPAN = " span=";
    private static final String NAME = "name=";

    private Annotations() {}

    /** The origin in {@code ty=… span="file":3:CONV_2D:"tensor"}; empty for any other comment. */
    public static Optional<Origin> origin(String comment) {
        int span = comment.indexOf(SPAN);
        if (!comment.startsWith("ty=") || span < 0) {
            return Optional.empty();
        }
        StringBuilder file = new StringBuilder();
        int fileEnd = quoted(comment, span + SPAN.length(), file);
        int indexEnd = fileEnd < 0 ? -1 : comment.indexOf(':', fileEnd + 1);
        // The tensor's name contains this mark only with its quote escaped; the operator's name cannot contain it.
        int operatorEnd = indexEnd < 0 ? -1 : comment.indexOf(":\"", indexEnd + 1);
        if (operatorEnd < 0 || comment.charAt(fileEnd) != ':') {
            return Optional.empty();
        }
        StringBuilder tensor = new StringBuilder();
        if (quoted(comment, operatorEnd + 1, tensor) != comment.length()) {
            return Optional.empty();
        }
        String index = comment.substring(fileEnd + 1, indexEnd);
        return index.matches("[0-9]{1,9}")
                ? Optional.of(new Origin(
                        file.toString(),
                        Integer.parseInt(index),
                        comment.substring(indexEnd + 1, operatorEnd),
                        tensor.toString()))
                : Optional.empty();
    }

    /** The name in {@code name="conv/weights"}, also after {@code ty=…}; empty for any other comment. */
    public static Optional<String> name(String comment) {
        int type = comment.startsWith("ty=") ? comment.indexOf(" " + NAME) + 1 : 0;
        StringBuilder name = new StringBuilder();
        boolean isName =
                comment.startsWith(NAME, type) && quoted(comment, type + NAME.length(), name) == comment.length();
        return isName ? Optional.of(name.toString()) : Optional.empty();
    }

    private static int quoted(String comment, int at, StringBuilder value) {
        return at < comment.length() && comment.charAt(at) == '"' ? Literals.unquote(comment, at, value) : -1;
    }
}
