// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.address;

import java.util.Map;
import java.util.TreeMap;

/**
 * A constant and multiples of variables, of 32 bits.
 *
 * @param constant without variables
 * @param terms factors by variable; none is 0
 */
record Sum(int constant, Map<Integer, Integer> terms) {
    static final Sum ZERO = of(0);

    static Sum of(int constant) {
        return new Sum(constant, Map.of());
    }

    static Sum variable(int number) {
        return new Sum(0, Map.of(number, 1));
    }

    Sum plus(int more) {
        return new Sum(constant + more, terms);
    }

    Sum plus(Sum other) {
        return plus(other, 1);
    }

    /** This sum and a multiple of another. */
    Sum plus(Sum other, int factor) {
        if (other.terms.isEmpty()) {
            return plus(other.constant * factor);
        }
        Map<Integer, Integer> all = new TreeMap<>(terms);
        other.terms.forEach((variable, times) -> all.merge(variable, times * factor, Integer::sum));
        all.values().removeIf(times -> times == 0);
        return new Sum(constant + other.constant * factor, all);
    }

    boolean isConstant() {
        return terms.isEmpty();
    }

    int factor(int variable) {
        return terms.getOrDefault(variable, 0);
    }

    /** This sum with another in place of a variable. */
    Sum replacing(int variable, Sum other) {
        int factor = factor(variable);
        return factor == 0 ? this : plus(variable(variable), -factor).plus(other, factor);
    }
}
