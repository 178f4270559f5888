// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The attributes of a call in a text, by name. What is missing or wrong is reported at its place, and a valid value
 * stands in, so that one reading finds every problem.
 */
public interface AttributeReader {
    boolean has(String name);

    /** A whole number in a range. */
    int integer(String name, int min, int max);

    /** A list of whole numbers in a range; of any length, unless sizes are given. */
    List<Integer> integers(String name, int min, int max, Integer... sizes);

    /** A list of pairs of whole numbers in a range. */
    List<List<Integer>> pairs(String name, int min, int max);

    /** A finite number. */
    double real(String name);

    List<Double> reals(String name);

    /** True, False, 1 or 0. */
    boolean truth(String name, boolean otherwise);

    /** A string that must be one of these; the first replaces a wrong one. */
    String choice(String name, String... allowed);

    /** An element type that must be one of the allowed ones; any type if none are listed. */
    DType dtype(String name, DType... allowed);

    /** Text that matches a pattern. */
    String text(String name, Pattern form);

    /** The function that an operator calls, as an index among the caller's functions. */
    int function(String name);
}
