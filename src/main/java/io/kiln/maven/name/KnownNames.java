// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.name;

import io.kiln.maven.group.CompilationGroups;
import io.kiln.maven.group.Device;
import io.kiln.maven.group.Element;
import io.kiln.maven.group.Mlperf;
import io.kiln.maven.group.ParameterGroup;
import io.kiln.maven.session.Budgets;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.maven.plugin.descriptor.MojoDescriptor;
import org.apache.maven.plugin.descriptor.Parameter;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/**
 * The names that the plugin takes.
 *
 * @param properties all of {@code kiln.} that some goal reads
 * @param elements XML elements of each goal's configuration, by goal
 * @param read properties that a goal reads, by goal
 */
record KnownNames(Set<String> properties, Map<String, Set<String>> elements, Map<String, Set<String>> read) {
    /** What {@code kiln.ignoredProperties} lists is left to others. */
    static final String IGNORED = "kiln.ignoredProperties";

    /** Prefix of properties that give a memory region's limit; a name of the board follows. */
    static final String MEMORY = "kiln.memory.";

    /** The element that holds budgets, of which only some names exist. */
    static final String BUDGET = "budget";

    /** Goals that look up elements of other goals, which they do not declare. */
    static final Set<String> READERS_OF_OTHERS = Set.of("inspect");

    /** The names that the plugin's descriptor and the groups declare. */
    static KnownNames of(PluginDescriptor plugin) {
        Set<String> properties = new TreeSet<>(Set.of(IGNORED));
        Map<String, Set<String>> elements = new TreeMap<>();
        Map<String, Set<String>> read = new TreeMap<>();
        for (MojoDescriptor mojo : plugin.getMojos()) {
            Set<String> names = elements.computeIfAbsent(mojo.getGoal(), goal -> new TreeSet<>(groupElements()));
            for (Parameter parameter : Optional.ofNullable(mojo.getParameters()).orElse(List.of())) {
                names.add(parameter.getName());
                Optional.ofNullable(parameter.getAlias()).ifPresent(names::add);
                Set<String> ofGoal = read.computeIfAbsent(mojo.getGoal(), goal -> new TreeSet<>());
                property(mojo, parameter).ifPresent(ofGoal::add);
                ParameterGroup.of(parameter.getName())
                        .ifPresent(group -> properties(group).forEach(ofGoal::add));
                if (parameter.getName().equals(BUDGET)) {
                    Budgets.NAMES.forEach(name -> ofGoal.add(Budgets.PREFIX + name));
                }
            }
            undeclared(mojo).forEach(read.computeIfAbsent(mojo.getGoal(), goal -> new TreeSet<>())::add);
        }
        read.values().forEach(properties::addAll);
        for (ParameterGroup group : ParameterGroup.all()) {
            group.elements().forEach(element -> properties.add(group.property(element)));
        }
        Set<String> all = new TreeSet<>();
        elements.values().forEach(all::addAll);
        READERS_OF_OTHERS.forEach(goal -> elements.computeIfPresent(goal, (each, own) -> all));
        READERS_OF_OTHERS.forEach(goal -> read.computeIfPresent(goal, (each, own) -> properties));
        return new KnownNames(properties, elements, read);
    }

    /** What a goal reads without declaring it, because the descriptor has no room for the same words in many goals. */
    private static Stream<String> undeclared(MojoDescriptor mojo) {
        return switch (mojo.getGoal()) {
            case "mlperf" -> Stream.of(Mlperf.MLPERF, Device.MONITOR).flatMap(KnownNames::properties);
            case "doctor" -> Stream.concat(properties(CompilationGroups.CODE), Stream.of("kiln.test.units"));
            default -> mojo.getParameterMap().containsKey("application") ? properties(Mlperf.MLPERF) : Stream.empty();
        };
    }

    private static Stream<String> properties(ParameterGroup group) {
        return group.elements().stream().map(group::property);
    }

    private static Set<String> groupElements() {
        Set<String> names = new TreeSet<>();
        for (ParameterGroup group : ParameterGroup.all()) {
            names.add(group.name());
            for (Element element : group.elements()) {
                names.add(group.alone(element));
            }
        }
        return names;
    }

    private static Optional<String> property(MojoDescriptor mojo, Parameter parameter) {
        PlexusConfiguration value = mojo.getMojoConfiguration().getChild(parameter.getName(), false);
        return Optional.ofNullable(value)
                .map(PlexusConfiguration::getValue)
                .filter(expression -> expression.startsWith("${kiln.") && expression.endsWith("}"))
                .map(expression -> expression.substring(2, expression.length() - 1));
    }

    /** Whether a goal reads a property. */
    boolean hasProperty(String name) {
        return properties.contains(name) || (name.startsWith(MEMORY) && name.length() > MEMORY.length());
    }

    /** The goals that read a property; all those of a family, whose names the descriptor does not have. */
    List<String> readers(String property) {
        return read.entrySet().stream()
                .filter(entry ->
                        !properties.contains(property) || entry.getValue().contains(property))
                .map(Map.Entry::getKey)
                .toList();
    }

    /** The elements that at least one of some goals takes; of all goals if there are none. */
    Set<String> elements(Collection<String> goals) {
        Set<String> names = new TreeSet<>();
        Stream<String> asked = goals.isEmpty() ? elements.keySet().stream() : goals.stream();
        asked.forEach(goal -> names.addAll(elements.getOrDefault(goal, Set.of())));
        return names;
    }

    /** The goals that take an element. */
    List<String> goals(String element) {
        return elements.entrySet().stream()
                .filter(entry -> entry.getValue().contains(element) && !READERS_OF_OTHERS.contains(entry.getKey()))
                .map(Map.Entry::getKey)
                .toList();
    }
}
