// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A call of an operator in a model. */
public interface Operator {
    /**
     * Relay's name, or {@code tfl.*} for an operator of Kiln's own.
     *
     * @return as {@code kiln.dumpIr} shows it
     */
    String name();

    /**
     * Attributes by Relay's names.
     *
     * @return values that are Integer, Double, String or lists of these
     */
    Map<String, Object> attributes();

    /**
     * An attribute that is a list of integers, such as {@code strides}.
     *
     * @param attribute its name
     * @return its elements
     * @throws IllegalArgumentException if the operator has no such attribute
     */
    default List<Integer> integers(String attribute) {
        if (attributes().get(attribute) instanceof List<?> values) {
            return values.stream().map(Integer.class::cast).toList();
        }
        throw new IllegalArgumentException(name() + " has no list " + attribute);
    }

    /**
     * An attribute that is a number, such as {@code groups} or {@code a_min}.
     *
     * @param attribute its name
     * @return its value
     * @throws IllegalArgumentException if the operator has no such attribute
     */
    default double number(String attribute) {
        if (attributes().get(attribute) instanceof Number value) {
            return value.doubleValue();
        }
        throw new IllegalArgumentException(name() + " has no number " + attribute);
    }

    /**
     * What it reads, in Relay's order: zero points and scales are arguments, too.
     *
     * @return computed tensors and constants
     */
    List<Tensor> arguments();

    /**
     * What it computes.
     *
     * @return a tensor that is not constant
     */
    Tensor result();

    /**
     * What it does to sums, if it turns them into narrower elements.
     *
     * @return empty for all other operators
     */
    Optional<Rescaling> rescaling();

    /**
     * Where the model has it.
     *
     * @return file, index and name, for messages
     */
    String origin();
}
