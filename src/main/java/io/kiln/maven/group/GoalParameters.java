// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import java.io.File;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.PluginParameterExpressionEvaluator;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.component.configurator.expression.ExpressionEvaluationException;
import org.codehaus.plexus.component.configurator.expression.ExpressionEvaluator;
import org.codehaus.plexus.configuration.DefaultPlexusConfiguration;
import org.codehaus.plexus.configuration.PlexusConfiguration;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/** What a user has set for a goal: the sources from which {@link GroupValues} come. */
public final class GoalParameters {
    private final ExpressionEvaluator evaluator;
    private final Optional<PlexusConfiguration> configuration;

    /**
     * @param evaluator Maven's, which knows properties
     * @param configuration the goal's whole configuration in the project
     */
    GoalParameters(ExpressionEvaluator evaluator, Optional<PlexusConfiguration> configuration) {
        this.evaluator = evaluator;
        this.configuration = configuration;
    }

    public static GoalParameters of(MavenSession session, MavenProject project, MojoExecution goal) {
        return new GoalParameters(
                new PluginParameterExpressionEvaluator(session, goal),
                plugin(project, goal).map(plugin -> configuration(plugin, goal)).map(GoalParameters::copy));
    }

    /** The plugin, as the project configures it. */
    public static Optional<Plugin> plugin(MavenProject project, MojoExecution goal) {
        String key = goal.getGroupId() + ":" + goal.getArtifactId();
        return Optional.ofNullable(project.getPlugin(key))
                .or(() -> Optional.ofNullable(project.getPluginManagement())
                        .map(management -> management.getPluginsAsMap().get(key)));
    }

    /** The configuration of a goal in the project; null if there is none. */
    static Xpp3Dom configuration(Plugin plugin, MojoExecution goal) {
        PluginExecution execution = plugin.getExecutionsAsMap().get(goal.getExecutionId());
        return (Xpp3Dom) (execution == null ? plugin.getConfiguration() : execution.getConfiguration());
    }

    private static PlexusConfiguration copy(Xpp3Dom dom) {
        DefaultPlexusConfiguration copy = new DefaultPlexusConfiguration(dom.getName(), dom.getValue());
        for (Xpp3Dom child : dom.getChildren()) {
            copy.addChild(copy(child));
        }
        return copy;
    }

    /** An XML element of the goal's configuration in the project. */
    public Optional<PlexusConfiguration> element(String name) {
        return configuration.map(xml -> xml.getChild(name, false));
    }

    /** The value of a parameter {@code kiln.NAME} that the goal itself does not declare; its default is that of the goals that do. */
    public Optional<String> undeclared(String name) {
        return element(name)
                .map(GoalParameters::text)
                .flatMap(this::expanded)
                .filter(text -> !text.isBlank())
                .or(() -> property("kiln." + name));
    }

    /**
     * The values of a group.
     *
     * @param given the group's XML element; empty if the user does not set it, or the goal does not declare it
     * @throws KilnException if the element has one that the group lacks
     */
    public GroupValues of(ParameterGroup group, Optional<PlexusConfiguration> given) {
        Map<String, String> values = new TreeMap<>();
        group.elements()
                .forEach(element -> element(group.alone(element)).ifPresent(alone -> put(values, element, alone)));
        given.or(() -> element(group.name())).ifPresent(xml -> {
            for (PlexusConfiguration child : xml.getChildren()) {
                put(values, known(group, child.getName()), child);
            }
            String whole = xml.getValue("").strip();
            if (xml.getChildCount() == 0 && !whole.isEmpty()) {
                values.put(ofGroup(group, whole).name(), whole);
            }
        });
        return new GroupValues(group, values, this);
    }

    /** An empty element is not set, as Maven has it for single parameters. */
    private static void put(Map<String, String> values, Element element, PlexusConfiguration xml) {
        String text = text(xml);
        if (!text.isBlank()) {
            values.put(element.name(), text);
        }
    }

    /**
     * The element of a group that has a name.
     *
     * @throws KilnException without a place, if there is none
     */
    public static Element known(ParameterGroup group, String name) {
        return group.elements().stream()
                .filter(element -> element.name().equals(name))
                .findFirst()
                .orElseThrow(() -> Failure.CONFIG.exception(
                        "<" + group.name() + "> has no element <" + name + ">",
                        "",
                        String.join(", ", group.names()),
                        NearMiss.didYouMean(name, group.names())));
    }

    private static Element ofGroup(ParameterGroup group, String text) {
        return group.elements().stream()
                .filter(Element::isOfGroup)
                .findFirst()
                .orElseThrow(() -> Failure.CONFIG.exception(
                        "<" + group.name() + "> is `" + text + "`",
                        "",
                        "elements: " + String.join(", ", group.names())));
    }

    /** A list's elements are separated by commas, as in a property. */
    private static String text(PlexusConfiguration element) {
        return element.getChildCount() == 0
                ? Optional.ofNullable(element.getValue()).orElse("")
                : Stream.of(element.getChildren()).map(GoalParameters::text).collect(Collectors.joining(","));
    }

    /** The value of a property, of the command line or of the project. */
    public Optional<String> property(String name) {
        return expanded("${" + name + "}");
    }

    /** A text of the configuration, with the values of expressions that Maven has left in it. */
    Optional<String> expanded(String text) {
        try {
            return Optional.ofNullable(evaluator.evaluate(text)).map(Object::toString);
        } catch (ExpressionEvaluationException e) {
            throw new KilnException(Failure.CONFIG.problem(e.getMessage(), ""), e);
        }
    }

    /** The text of an element without children, with the values of expressions; empty if it has none. */
    String value(PlexusConfiguration element) {
        return expanded(element.getValue("")).orElse("").strip();
    }

    /** A file relative to the project's folder. */
    Path file(String text) {
        return evaluator.alignToBaseDirectory(new File(text)).toPath();
    }
}
