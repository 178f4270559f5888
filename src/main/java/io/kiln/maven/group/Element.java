// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import java.util.Optional;

/**
 * One element of a {@link ParameterGroup} of parameters.
 *
 * @param name the element's name in XML; the last part of its property
 * @param isOfGroup whether its property is that of the group, such as {@code kiln.quantize} for {@code <mode>}
 * @param isSingle whether its property does not have the group's name, such as {@code kiln.signature} for {@code <signature>} of {@code <tflite>}
 * @param alone the XML element by which it can be set without the group's; empty for the group's name and its own, such as {@code verifySeed}
 * @param usual its value if it is not set; empty if there is none
 * @param meaning what it is, for {@code kiln:help}
 */
public record Element(
        String name, boolean isOfGroup, boolean isSingle, String alone, Optional<String> usual, String meaning) {
    /** An element with a default. */
    static Element of(String name, String usual, String meaning) {
        return new Element(name, false, false, "", Optional.of(usual), meaning);
    }

    /** An element that need not be set. */
    static Element of(String name, String meaning) {
        return new Element(name, false, false, "", Optional.empty(), meaning);
    }

    /** The same, whose property is the group's. */
    Element ofGroup() {
        return new Element(name, true, isSingle, alone, usual, meaning);
    }

    /** The same with another name outside the group's element. */
    Element alone(String other) {
        return new Element(name, isOfGroup, isSingle, other, usual, meaning);
    }

    /** The same, outside the group's element and in properties under its name alone. */
    Element single() {
        return new Element(name, isOfGroup, true, name, usual, meaning);
    }
}
