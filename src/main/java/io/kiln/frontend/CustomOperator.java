// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Problems;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A C function of the user that computes a custom operator.
 *
 * @param code the operator's name in models
 * @param function name of the function, {@code int32_t f(const T* input0, …, T* output0, …)}, which returns 0, or anything else for an error
 * @param header file that declares the function; empty for none
 * @param shape shape of its outputs: empty for the file's, {@code input0} (or another) for that input's, or dimensions
 * {@code 1,10}
 * @param passed what the function gets after the tensors: {@code quantization}, {@code options} or both, separated by a
 *     comma; empty for nothing
 * @param reference path in the project of a C file with a reference implementation: a function of the same name and
 *     parameters, compiled for this computer, whose results are taken as correct; empty for none
 */
public record CustomOperator(
        String code, String function, String header, String shape, String passed, String reference) {
    /** Passes the scales and zero points of the tensors. */
    public static final String QUANTIZATION = "quantization";

    /** Passes the bytes of the operator's options. */
    public static final String OPTIONS = "options";

    /** Valid names of functions. */
    public static final Pattern FUNCTION = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    /** Valid names of headers. */
    public static final Pattern HEADER = Pattern.compile("[A-Za-z0-9_./+-]*");

    private static final Pattern REFERENCE = Pattern.compile("|[^\\p{Cntrl}:;]+\\.c");

    private static final Pattern SHAPE =
            Pattern.compile("|input([0-9]{1,4})|[1-9][0-9]{0,8}(\\s*,\\s*[1-9][0-9]{0,8}){0,7}");

    /** An operator whose function gets only the tensors. */
    public CustomOperator(String code, String function, String header, String shape) {
        this(code, function, header, shape, "", "");
    }

    /** Whether the function gets its tensors' scales and zero points. */
    public boolean passesQuantization() {
        return words().contains(QUANTIZATION);
    }

    /** Whether the function gets the bytes of the operator's options. */
    public boolean passesOptions() {
        return words().contains(OPTIONS);
    }

    private List<String> words() {
        return passed.isBlank()
                ? List.of()
                : Stream.of(passed.split(",", -1)).map(String::strip).toList();
    }

    /** Adds its errors. */
    void check(Problems problems) {
        String where = "kiln.customOperators";
        if (code.isBlank()) {
            problems.add("an operator has no code", where, "<code>: the operator's name in the model", "");
        }
        boolean ours = function.startsWith(InterfaceNames.PREFIX) || function.startsWith("kiln_");
        if (ours || !FUNCTION.matcher(function).matches()) {
            problems.add(
                    "the function of `" + code + "` is `" + function + "`",
                    where,
                    "a C name that begins with neither " + InterfaceNames.PREFIX + " nor kiln_",
                    "");
        }
        if (!HEADER.matcher(header).matches()) {
            problems.add("the header of `" + code + "` is `" + header + "`", where, "a path below src/main/c", "");
        }
        checkPassed(problems, where);
        if (!REFERENCE.matcher(reference).matches()) {
            problems.add(
                    "the reference of `" + code + "` is `" + reference + "`", where, "a C file of the project", "");
        }
        if (!SHAPE.matcher(shape).matches()) {
            problems.add(
                    "the shape of `" + code + "` is `" + shape + "`",
                    where,
                    "nothing for the model's shape, input0 for that of an input, or dimensions such as 1,10",
                    "");
        }
    }

    private void checkPassed(Problems problems, String where) {
        if (!Set.of(QUANTIZATION, OPTIONS).containsAll(words())) {
            problems.add(
                    "the function of `" + code + "` gets `" + passed + "` after the tensors",
                    where,
                    QUANTIZATION + ", " + OPTIONS + ", or both separated by a comma",
                    "");
        }
    }

    /** The input that gives the outputs' shape, if one does. */
    public Optional<Integer> shapeInput() {
        var matcher = SHAPE.matcher(shape);
        return matcher.matches() && matcher.group(1) != null
                ? Optional.of(Integer.valueOf(matcher.group(1)))
                : Optional.empty();
    }
}
