// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.maven.group.Element;
import io.kiln.maven.group.ParameterGroup;
import io.kiln.maven.session.MojoLog;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.maven.plugin.descriptor.MojoDescriptor;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.configuration.PlexusConfiguration;

/**
 * Lists the goals; with {@code -Ddetail -Dgoal=NAME} it explains the parameters of one.
 *
 * @since 0.1.0
 */
@Mojo(name = "help", requiresProject = false, threadSafe = true)
public final class HelpMojo extends AbstractKilnMojo {
    /** Whether the parameters are explained, too. */
    @Parameter(property = "detail", defaultValue = "false")
    private boolean detail;

    /** The goal; if not set, all. */
    @Parameter(property = "goal")
    private String goal;

    /** The most characters of a line. */
    @Parameter(property = "lineLength", defaultValue = "80")
    private int lineLength;

    /** The number of spaces before what belongs to a line. */
    @Parameter(property = "indentSize", defaultValue = "2")
    private int indentSize;

    @Override
    boolean isGoalSkipped() {
        return false;
    }

    @Override
    void run() {
        new MojoLog(getLog()).answer(text(descriptor(), Optional.ofNullable(goal), detail, lineLength, indentSize));
    }

    /**
     * What is printed.
     *
     * @param only the goal; empty for all
     * @throws KilnException if there is no such goal
     */
    static String text(PluginDescriptor plugin, Optional<String> only, boolean detail, int length, int indent) {
        List<MojoDescriptor> goals = plugin.getMojos().stream()
                .filter(each -> only.isEmpty() || only.get().equals(each.getGoal()))
                .sorted(Comparator.comparing(MojoDescriptor::getGoal))
                .toList();
        if (goals.isEmpty()) {
            List<String> names =
                    plugin.getMojos().stream().map(MojoDescriptor::getGoal).toList();
            throw Failure.CONFIG.exception(
                    "there is no goal `" + only.orElse("") + "`",
                    "",
                    "one of the goals that kiln:help lists",
                    NearMiss.didYouMean(only.orElse(""), names));
        }
        Text text = new Text(Math.max(1, length), Math.max(1, indent));
        text.add(0, plugin.getName() + " " + plugin.getVersion());
        text.add(1, plugin.getDescription());
        if (only.isEmpty()) {
            text.line();
            text.add(0, "This plugin has " + goals.size() + " goals:");
        }
        for (MojoDescriptor each : goals) {
            text.line();
            text.add(0, plugin.getGoalPrefix() + ":" + each.getGoal());
            text.add(1, each.getDescription());
            if (detail) {
                describe(each, text);
            }
        }
        return text.lines.toString();
    }

    private static void describe(MojoDescriptor mojo, Text text) {
        text.line();
        text.add(1, "Available parameters:");
        mojo.getParameters().stream()
                .filter(org.apache.maven.plugin.descriptor.Parameter::isEditable)
                .sorted(Comparator.comparing(org.apache.maven.plugin.descriptor.Parameter::getName))
                .forEach(each -> {
                    PlexusConfiguration value = mojo.getMojoConfiguration().getChild(each.getName());
                    Optional<String> property = Optional.ofNullable(value.getValue())
                            .filter(expression -> expression.startsWith("${"))
                            .map(expression -> expression.substring(2, expression.length() - 1));
                    Optional<String> usual = Optional.ofNullable(value.getAttribute("default-value"));
                    describe(each.getName(), usual, each.getDescription(), property, text);
                    ParameterGroup.of(each.getName()).ifPresent(group -> describe(group, text));
                });
    }

    private static void describe(ParameterGroup group, Text text) {
        for (Element element : group.elements()) {
            describe(
                    group.name() + "/" + element.name(),
                    element.usual(),
                    element.meaning(),
                    Optional.of(group.property(element)),
                    text);
        }
    }

    private static void describe(
            String name, Optional<String> usual, String meaning, Optional<String> property, Text text) {
        text.line();
        text.add(
                2,
                name
                        + usual.filter(value -> !value.isEmpty())
                                .map(value -> " (Default: " + value + ")")
                                .orElse(""));
        text.add(3, meaning);
        property.ifPresent(each -> text.add(3, "User property: " + each));
    }

    /** Text whose paragraphs are broken into lines. */
    private static final class Text {
        private final StringBuilder lines = new StringBuilder();
        private final int length;
        private final int indent;

        Text(int length, int indent) {
            this.length = length;
            this.indent = indent;
        }

        void line() {
            lines.append('\n');
        }

        /** Adds a paragraph; a word that is longer than a line has one of its own. */
        void add(int level, String paragraph) {
            String margin = " ".repeat(indent * level);
            int column = 0;
            for (String word :
                    paragraph == null ? new String[0] : paragraph.strip().split("\\s+", -1)) {
                if (column > 0 && column + 1 + word.length() > length) {
                    lines.append('\n');
                    column = 0;
                }
                String before = column == 0 ? margin : " ";
                lines.append(before).append(word);
                column += before.length() + word.length();
            }
            lines.append('\n');
        }
    }
}
