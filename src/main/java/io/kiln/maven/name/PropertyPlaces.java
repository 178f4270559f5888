// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.name;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.InputLocation;
import org.apache.maven.model.Model;
import org.apache.maven.model.Profile;
import org.apache.maven.model.io.xpp3.MavenXpp3Writer;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/**
 * Where a build's properties stand, and which of them the user's own files use.
 *
 * @param session has those of the command line, and those that Java was started with
 * @param project has its own, its parents' and those of active profiles
 */
record PropertyPlaces(MavenSession session, MavenProject project) {
    private static final Path CONFIG = Path.of(".mvn", "maven.config");

    /** File, line and column of an element. */
    private static final Pattern LOCATION = Pattern.compile("(.+) @ (\\d+):\\d+");

    /** The names of all properties that begin with a prefix. */
    Set<String> names(String prefix) {
        Set<String> names = new TreeSet<>();
        Stream.of(session.getUserProperties(), session.getSystemProperties(), project.getProperties())
                .flatMap(properties -> properties.stringPropertyNames().stream())
                .filter(name -> name.startsWith(prefix))
                .forEach(names::add);
        return names;
    }

    /** The value of a property; empty if there is none. */
    String value(String name) {
        return session.getUserProperties()
                .getProperty(name, project.getProperties().getProperty(name, ""));
    }

    /** The file and the line of an element, for a message that goes on; empty if Maven does not tell. */
    static String place(Xpp3Dom element) {
        Object place = element.getInputLocation();
        if (place instanceof InputLocation location) {
            return location.getSource() == null ? "" : text(location) + ", ";
        }
        // Maven 4 has another class there, which older ones lack; its text is all that both know.
        Matcher text = LOCATION.matcher(String.valueOf(place));
        return text.matches() ? text(text.group(1), text.group(2)) + ", " : "";
    }

    /** Where a property stands, for a message. */
    String place(String name) {
        if (session.getUserProperties().containsKey(name)) {
            return isInConfig(name) ? CONFIG.toString() : "the command line";
        }
        if (project.getProperties().containsKey(name)) {
            return location(name).or(() -> settings(name)).orElseGet(() -> "the properties of " + project.getId());
        }
        return "MAVEN_OPTS or .mvn/jvm.config";
    }

    private boolean isInConfig(String name) {
        Optional<Path> file = Optional.ofNullable(session.getRequest().getMultiModuleProjectDirectory())
                .map(root -> root.toPath().resolve(CONFIG))
                .filter(Files::isRegularFile);
        try {
            return file.isPresent()
                    && Stream.of(Files.readString(file.get()).split("\\s+", -1))
                            .anyMatch(word -> word.equals("-D" + name) || word.startsWith("-D" + name + "="));
        } catch (IOException e) {
            return false;
        }
    }

    private Optional<String> location(String name) {
        return Optional.ofNullable(project.getModel().getLocation("properties"))
                .map(properties -> properties.getLocation(name))
                .filter(location -> location.getSource() != null)
                .map(PropertyPlaces::text);
    }

    /** Maven 4 says where a POM lies as a URL. */
    private static String text(InputLocation location) {
        String file = Optional.ofNullable(location.getSource().getLocation())
                .orElse(location.getSource().getModelId());
        return text(file, String.valueOf(location.getLineNumber()));
    }

    private static String text(String file, String line) {
        return file.replaceFirst("^file://", "") + ", line " + line;
    }

    private Optional<String> settings(String name) {
        return settingsProfiles()
                .filter(profile -> profile.getProperties().containsKey(name))
                .map(profile -> "the profile " + profile.getId() + " of settings.xml")
                .findFirst();
    }

    private Stream<Profile> settingsProfiles() {
        return session.getRequest().getProfiles().stream();
    }

    /**
     * The text of all POMs of the build, and of the settings' profiles, as their authors wrote them. A property that they use,
     * or that activates a profile, is the user's own.
     */
    boolean isUsed(String name) {
        String activation = "<name>" + name + "</name>";
        return texts().anyMatch(text -> text.contains("${" + name + "}")
                || text.contains(activation)
                || text.contains(activation.replace("<name>", "<name>!")));
    }

    private Stream<String> texts() {
        List<Model> models = new ArrayList<>();
        for (MavenProject each : projects()) {
            for (MavenProject one = each; one != null; one = one.getParent()) {
                Optional.ofNullable(one.getOriginalModel()).ifPresent(models::add);
            }
        }
        Model settings = new Model();
        settingsProfiles().forEach(settings::addProfile);
        models.add(settings);
        return models.stream().distinct().map(PropertyPlaces::xml);
    }

    /** All projects of the build. */
    List<MavenProject> projects() {
        List<MavenProject> projects = new ArrayList<>(List.of(project));
        projects.addAll(Optional.ofNullable(session.getAllProjects()).orElseGet(session::getProjects));
        return projects;
    }

    private static String xml(Model model) {
        StringWriter text = new StringWriter();
        try {
            new MavenXpp3Writer().write(text, model);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }
}
