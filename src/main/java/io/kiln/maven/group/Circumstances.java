// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.base.Extensions;
import java.io.File;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.maven.artifact.repository.ArtifactRepository;
import org.apache.maven.execution.MavenExecutionRequest;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Plugin;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.PluginParameterExpressionEvaluator;
import org.apache.maven.project.MavenProject;
import org.apache.maven.settings.Server;
import org.codehaus.plexus.component.configurator.expression.ExpressionEvaluationException;
import org.codehaus.plexus.component.configurator.expression.ExpressionEvaluator;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/**
 * All that a goal is told, by the project, the command line, Maven's settings, Java and the environment; files that it names are not read.
 * Secrets are left out, unless they are compiled into the firmware.
 */
public final class Circumstances {
    /** Of the environment, Kiln itself reads these; expressions may name others. */
    private static final List<String> VARIABLES = List.of("env.PATH", "env.KILN_HOME");

    /** Properties of Java and Maven that may differ from run to run. */
    private static final Pattern OF_THE_RUN = Pattern.compile("(?:env|sun|jdk)\\..*|java\\.vm\\.compressedOopsMode");

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
        VARIABLES.forEach(name -> all.add(name, session.getSystemProperties().getProperty(name)));
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
