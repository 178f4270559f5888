// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.base.Extensions;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.compile.ReadOptions;
import io.kiln.compile.ReadOptions.UserFunction;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.artifact.repository.ArtifactRepository;
import org.apache.maven.execution.MavenExecutionRequest;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.PluginParameterExpressionEvaluator;
import org.apache.maven.project.MavenProject;
import org.apache.maven.settings.Server;
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

    /**
     * All that a goal is told, by the project, the command line, Maven's settings, Java and the environment; files that it names are not read.
     * Secrets are left out, unless they are compiled into the firmware.
     */
    public static final class Circumstances {
        /** Of the environment, Kiln itself reads these; expressions may name others. */
        private static final List<String> VARIABLES = List.of("env.PATH", "env.KILN_HOME");

        /** Properties of Java and Maven that may differ from run to run. */
        private static final Pattern OF_THE_RUN =
                Pattern.compile("(?:env|sun|jdk)\\..*|java\\.vm\\.compressedOopsMode");

        /** Names by which properties of others are known to be secret. */
        private static final Pattern SECRET =
                Pattern.compile("pass(?:word|phrase|wd)|secret|token|credential|api.?key", Pattern.CASE_INSENSITIVE);

        private final ExpressionEvaluator evaluator;
        private final StringBuilder text = new StringBuilder();

        private Circumstances(ExpressionEvaluator evaluator) {
            this.evaluator = evaluator;
        }

        /** The circumstances of a goal, as a text that is not for people. */
        public static String of(MavenSession session, MavenProject project, MojoExecution goal) {
            Circumstances all = new Circumstances(new PluginParameterExpressionEvaluator(session, goal));
            all.add("project", project.getId());
            all.add("packaging", project.getPackaging());
            all.add("folder", project.getBasedir());
            all.add("output", project.getBuild().getDirectory());
            all.add("name", project.getBuild().getFinalName());
            all.add("version", goal.getVersion());
            all.add("code", Extensions.place(Circumstances.class));
            GoalParameters.plugin(project, goal).ifPresent(plugin -> all.add(plugin, goal));
            all.add("project", project.getProperties());
            all.add("user", session.getUserProperties());
            all.add("system", session.getSystemProperties());
            VARIABLES.forEach(
                    name -> all.add(name, session.getSystemProperties().getProperty(name)));
            all.add(session);
            return all.text.toString();
        }

        private void add(Plugin plugin, MojoExecution goal) {
            plugin.getDependencies().forEach(part -> add(part.getManagementKey(), part.getVersion()));
            Optional.ofNullable(GoalParameters.configuration(plugin, goal)).ifPresent(xml -> add("", xml));
        }

        private void add(MavenSession session) {
            MavenExecutionRequest request = session.getRequest();
            add("settings", request.getUserSettingsFile());
            add("global settings", request.getGlobalSettingsFile());
            add("toolchains", request.getUserToolchainsFile());
            add("global toolchains", request.getGlobalToolchainsFile());
            add(
                    "repository",
                    Optional.ofNullable(session.getLocalRepository())
                            .map(ArtifactRepository::getBasedir)
                            .orElse(""));
            for (Server server : session.getSettings().getServers()) {
                add("key of " + server.getId(), server.getPrivateKey());
            }
        }

        private void add(String kind, Properties properties) {
            new TreeMap<>(properties).forEach((key, value) -> {
                String name = String.valueOf(key);
                if (OF_THE_RUN.matcher(name).matches()) {
                    return;
                }
                String whole = String.valueOf(value);
                if (name.startsWith("kiln.")) {
                    add(kind + " " + name, Farm.isSecret(name) ? "" : evaluated(whole));
                } else {
                    add(kind + " " + name, SECRET.matcher(name).find() ? "" : whole);
                }
            });
        }

        private void add(String path, Xpp3Dom xml) {
            for (String name : xml.getAttributeNames()) {
                add(path + "@" + name, xml.getAttribute(name));
            }
            String value = Optional.ofNullable(xml.getValue()).orElse("");
            add(path, Farm.isSecret(path) ? "" : evaluated(value));
            for (Xpp3Dom child : xml.getChildren()) {
                add(path.isEmpty() ? child.getName() : path + "/" + child.getName(), child);
            }
        }

        /** A text with the values of the expressions that Maven has left in it. */
        private String evaluated(String value) {
            if (!value.contains("${")) {
                return value;
            }
            try {
                return value + "\n" + evaluator.evaluate(value);
            } catch (ExpressionEvaluationException e) {
                return value + "\n" + e.getMessage();
            }
        }

        /** With the value's length, so that no value looks like several. */
        private void add(String name, Object value) {
            String given = value instanceof File file ? file.getAbsolutePath() : String.valueOf(value);
            text.append(name)
                    .append('=')
                    .append(given.length())
                    .append(' ')
                    .append(given)
                    .append('\n');
        }
    }

    /** {@code <customOperators>} and {@code kiln.customOperators}: C functions of the user that compute operators. */
    public static final class OperatorFunctions {
        private static final List<String> NAMES =
                List.of("code", "function", "header", "shape", "quantization", "options", "reference");

        private OperatorFunctions() {}

        /**
         * The options with the custom operators.
         *
         * @param given the XML element; empty if the user does not set it, or the goal does not declare it
         */
        public static ReadOptions in(
                ReadOptions options, GoalParameters parameters, Optional<PlexusConfiguration> given) {
            List<UserFunction> functions = new ArrayList<>();
            List<String> lines = new ArrayList<>();
            given.or(() -> parameters.element("customOperators")).ifPresent(xml -> {
                for (PlexusConfiguration each : xml.getChildren()) {
                    functions.add(function(each, parameters));
                }
                lines.add(xml.getChildCount() == 0 ? parameters.value(xml) : "");
            });
            lines.add(parameters
                    .element("customOperatorsText")
                    .map(parameters::value)
                    .filter(text -> !text.isEmpty())
                    .or(() -> parameters.property("kiln.customOperators"))
                    .orElse(""));
            lines.removeIf(String::isBlank);
            return options.with(functions, String.join(";", lines));
        }

        private static UserFunction function(PlexusConfiguration xml, GoalParameters parameters) {
            for (PlexusConfiguration child : xml.getChildren()) {
                if (!NAMES.contains(child.getName())) {
                    throw Failure.CONFIG.exception(
                            "a custom operator has no element <" + child.getName() + ">",
                            "<customOperators>",
                            String.join(", ", NAMES),
                            NearMiss.didYouMean(child.getName(), NAMES));
                }
            }
            return new UserFunction(
                    parameters.value(xml.getChild("code")),
                    parameters.value(xml.getChild("function")),
                    parameters.value(xml.getChild("header")),
                    parameters.value(xml.getChild("shape")),
                    Boolean.parseBoolean(parameters.value(xml.getChild("quantization"))),
                    Boolean.parseBoolean(parameters.value(xml.getChild("options"))),
                    parameters.value(xml.getChild("reference")));
        }
    }
}
