// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.maven.group.Farm.WorkerCare;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Parameters that belong together: elements of one XML element of a goal's configuration, and properties with one prefix.
 *
 * @param name the XML element's name
 * @param elements its elements
 */
public record ParameterGroup(String name, List<Element> elements) {
    public ParameterGroup {
        elements = List.copyOf(elements);
    }

    ParameterGroup(String name, Element... elements) {
        this(name, List.of(elements));
    }

    public static List<ParameterGroup> all() {
        return List.of(
                CompilationGroups.FUSE,
                CompilationGroups.TFLITE,
                CompilationGroups.ONNX,
                CompilationGroups.MLF,
                CompilationGroups.RAM,
                CompilationGroups.LIMIT,
                CompilationGroups.CODE,
                Quantize.GROUP,
                Update.GROUP,
                Verify.GROUP,
                Mlperf.MLPERF,
                Farm.GROUP,
                WorkerCare.GROUP,
                Beside.FIRMWARE,
                Device.FLASH,
                Device.MONITOR);
    }

    /** The group that a goal's parameter holds; empty if the parameter is a single one. */
    public static Optional<ParameterGroup> of(String parameter) {
        return all().stream().filter(group -> group.name.equals(parameter)).findFirst();
    }

    /** The names of its elements. */
    List<String> names() {
        return elements.stream().map(Element::name).toList();
    }

    /** The property that sets an element. */
    public String property(Element element) {
        if (element.isSingle()) {
            return "kiln." + element.alone();
        }
        return "kiln." + name + (element.isOfGroup() ? "" : "." + element.name());
    }

    /** The XML element that sets an element without the group's. */
    public String alone(Element element) {
        String other = element.alone();
        return other.isEmpty()
                ? name
                        + element.name().substring(0, 1).toUpperCase(Locale.ROOT)
                        + element.name().substring(1)
                : other;
    }
}
