// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.name;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.maven.group.CompilationGroups;
import io.kiln.maven.group.Device;
import io.kiln.maven.group.Element;
import io.kiln.maven.group.GoalParameters;
import io.kiln.maven.group.Mlperf;
import io.kiln.maven.group.ParameterGroup;
import io.kiln.maven.session.Budgets;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.InputLocation;
import org.apache.maven.model.Model;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.model.Profile;
import org.apache.maven.model.ReportPlugin;
import org.apache.maven.model.ReportSet;
import org.apache.maven.model.io.xpp3.MavenXpp3Writer;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.descriptor.MojoDescriptor;
import org.apache.maven.plugin.descriptor.Parameter;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.configuration.PlexusConfiguration;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/**
 * Refuses what Maven passes over in silence: properties {@code kiln.*} and elements of the plugin's configuration that no goal
 * takes. What is misspelled there would not be looked at, such as a budget.
 */
public final class UnknownNames {
    private static final String PREFIX = "kiln.";

    private static final String PROPERTY = " has the property ";

    /** Stands once, behind the last property. */
    private static final String ADVICE = "kiln:help -Ddetail lists all that this version has, " + KnownNames.IGNORED
            + " takes names of your own, separated by commas";

    /** The goal that a lifecycle runs before all others of Kiln. */
    private static final String FIRST_OF_THE_LIFECYCLE = "resolve";

    /** Properties that are read without being parameters of a goal. */
    private static final Set<String> ALWAYS_READ = Set.of(KnownNames.IGNORED, "kiln.skip", "kiln.home");

    /** Properties that hold the plugin's own version in many projects. */
    private static final Set<String> VERSIONS = Set.of("kiln.version", "kiln.plugin.version");

    private final KnownNames known;
    private final PropertyPlaces places;
    private final String version;
    private final Problems problems = new Problems(Failure.CONFIG);

    UnknownNames(KnownNames known, PropertyPlaces places, String version) {
        this.known = known;
        this.places = places;
        this.version = version;
    }

    /**
     * Checks a build, before a goal does anything: the goal's project, and before the first goal all others that use the plugin.
     *
     * @throws KilnException with all unknown names, where each stands and the nearest known ones
     */
    public static void check(MavenSession session, MavenProject project, MojoExecution goal) {
        KnownNames known = KnownNames.of(goal.getMojoDescriptor().getPluginDescriptor());
        Set<Problem> found = new LinkedHashSet<>();
        for (MavenProject each : projects(session, project, goal)) {
            UnknownNames names = new UnknownNames(known, new PropertyPlaces(session, each), goal.getVersion());
            names.properties();
            GoalParameters.plugin(each, goal).ifPresent(names::plugin);
            names.reports(Optional.ofNullable(each.getModel().getReporting())
                    .map(reporting -> reporting.getReportPluginsAsMap().get(key(goal))));
            found.addAll(names.problems.list());
        }
        if (!found.isEmpty()) {
            throw new KilnException(advised(List.copyOf(found)));
        }
    }

    /** The goal's project; once in a build also those that run goals of the same plugin later. */
    private static List<MavenProject> projects(MavenSession session, MavenProject project, MojoExecution goal) {
        List<MavenProject> projects = new ArrayList<>(List.of(project));
        if (session.getRepositorySession().getData().set(UnknownNames.class.getName(), null, goal.getVersion())) {
            session.getProjects().stream()
                    .filter(each -> !each.equals(project)
                            && !"true".equals(each.getProperties().getProperty("kiln.skip")))
                    .filter(each -> Optional.ofNullable(each.getPlugin(key(goal)))
                            .filter(plugin -> goal.getVersion().equals(plugin.getVersion()))
                            .isPresent())
                    .forEach(projects::add);
        }
        return projects;
    }

    private static String key(MojoExecution goal) {
        return goal.getGroupId() + ":" + goal.getArtifactId();
    }

    /** With the advice on properties behind the last of them. */
    private static List<Problem> advised(List<Problem> problems) {
        List<Problem> advised = new ArrayList<>(problems);
        for (int i = problems.size() - 1; i >= 0; i--) {
            Problem last = problems.get(i);
            if (last.what().contains(PROPERTY)) {
                String question = last.next().isEmpty() ? "" : last.next() + " ";
                advised.set(
                        i, new Problem(last.family(), last.what(), last.where(), last.expected(), question + ADVICE));
                break;
            }
        }
        return advised;
    }

    /**
     * What of a command line nothing in the build reads, although Kiln knows it: told once, by the first of the goals.
     *
     * @return a line for each property
     */
    public static List<String> unread(MavenSession session, MavenProject project, MojoExecution goal) {
        PluginDescriptor plugin = goal.getMojoDescriptor().getPluginDescriptor();
        KnownNames known = KnownNames.of(plugin);
        List<String> goals = session.getGoals().stream()
                .filter(word -> word.contains(":"))
                .map(word -> word.replaceFirst("@.*", ""))
                .filter(word -> word.contains(plugin.getArtifactId()) || word.startsWith(plugin.getGoalPrefix() + ":"))
                .map(word -> word.substring(word.lastIndexOf(':') + 1))
                .toList();
        boolean hasOthers = goals.isEmpty() || goals.size() < session.getGoals().size();
        boolean isFirst = goal.getGoal().equals(hasOthers ? FIRST_OF_THE_LIFECYCLE : goals.get(0));
        if (!isFirst || !project.isExecutionRoot()) {
            return List.of();
        }
        Set<String> run = new HashSet<>(goals);
        if (hasOthers) {
            plugin.getMojos().stream()
                    .filter(mojo -> mojo.getPhase() != null)
                    .map(MojoDescriptor::getGoal)
                    .forEach(run::add);
            new PropertyPlaces(session, project)
                    .projects().stream()
                            .map(each -> each.getPlugin(plugin.getPluginLookupKey()))
                            .filter(Objects::nonNull)
                            .flatMap(each -> each.getExecutions().stream())
                            .forEach(each -> run.addAll(each.getGoals()));
        }
        return session.getUserProperties().stringPropertyNames().stream()
                .filter(name -> name.startsWith(PREFIX) && known.hasProperty(name) && !ALWAYS_READ.contains(name))
                .filter(name -> known.readers(name).stream().noneMatch(run::contains))
                .sorted()
                .map(name -> name + " changes nothing here: it is of "
                        + known.readers(name).stream()
                                .filter(reader -> !KnownNames.READERS_OF_OTHERS.contains(reader))
                                .map(reader -> plugin.getGoalPrefix() + ":" + reader)
                                .collect(Collectors.joining(", ")))
                .toList();
    }

    private void properties() {
        Set<String> own = Stream.of(places.value(KnownNames.IGNORED).split(",", -1))
                .map(String::strip)
                .collect(Collectors.toCollection(HashSet::new));
        own.addAll(VERSIONS);
        places.names(PREFIX).stream()
                .filter(name -> !known.hasProperty(name) && !own.contains(name) && !places.isUsed(name))
                .forEach(name -> problems.add(
                        "no parameter of Kiln " + version + PROPERTY + name,
                        places.place(name),
                        "",
                        NearMiss.didYouMeanWords(name, known.properties())));
    }

    private void plugin(Plugin plugin) {
        Set<String> shared = names((Xpp3Dom) plugin.getConfiguration());
        configuration((Xpp3Dom) plugin.getConfiguration(), "<configuration> of the plugin", List.of(), Set.of());
        for (Map.Entry<String, PluginExecution> entry :
                plugin.getExecutionsAsMap().entrySet()) {
            configuration(
                    (Xpp3Dom) entry.getValue().getConfiguration(),
                    "<configuration> of the execution " + entry.getKey(),
                    entry.getValue().getGoals(),
                    shared);
        }
    }

    /** Those of a site, which Maven keeps apart. */
    private void reports(Optional<ReportPlugin> plugin) {
        plugin.ifPresent(reports -> {
            String place = "<configuration> of the plugin in <reporting>";
            configuration((Xpp3Dom) reports.getConfiguration(), place, List.of(), Set.of());
            for (ReportSet set : reports.getReportSets()) {
                configuration((Xpp3Dom) set.getConfiguration(), place, List.of(), Set.of());
            }
        });
    }

    private static Set<String> names(Xpp3Dom configuration) {
        return configuration == null
                ? Set.of()
                : Stream.of(configuration.getChildren()).map(Xpp3Dom::getName).collect(Collectors.toSet());
    }

    /**
     * Checks the elements of a configuration.
     *
     * @param goals that are run with it; none for those of the plugin, which all goals share
     * @param shared elements that it has from the plugin's
     */
    private void configuration(Xpp3Dom configuration, String place, Collection<String> goals, Set<String> shared) {
        if (configuration == null) {
            return;
        }
        Set<String> taken = known.elements(goals);
        for (Xpp3Dom element : configuration.getChildren()) {
            String name = element.getName();
            if (shared.contains(name)) {
                continue;
            }
            if (taken.contains(name)) {
                ParameterGroup.of(name).ifPresent(group -> group(group, element, place));
                if (name.equals(KnownNames.BUDGET)) {
                    budgets(element, place);
                }
                continue;
            }
            List<String> others = known.goals(name);
            problems.add(
                    others.isEmpty()
                            ? "no goal of Kiln " + version + " takes <" + name + ">"
                            : "<" + name + "> is of other goals: " + String.join(", ", others),
                    PropertyPlaces.place(element) + place,
                    "",
                    others.isEmpty() ? nearest(name, taken) : "");
        }
    }

    private void group(ParameterGroup group, Xpp3Dom element, String place) {
        for (Xpp3Dom child : element.getChildren()) {
            problems.collect(() -> {
                try {
                    GoalParameters.known(group, child.getName());
                } catch (KilnException e) {
                    throw e.relocated("", PropertyPlaces.place(child) + place);
                }
            });
        }
    }

    private void budgets(Xpp3Dom element, String place) {
        for (Xpp3Dom child : element.getChildren()) {
            if (!Budgets.NAMES.contains(child.getName())) {
                problems.add(
                        "<" + element.getName() + "> has no element <" + child.getName() + ">",
                        PropertyPlaces.place(child) + place,
                        Budgets.NAMES.stream().sorted().collect(Collectors.joining(", ")),
                        NearMiss.didYouMean(child.getName(), Budgets.NAMES));
            }
        }
    }

    /** Elements are single words often; one before each makes the rule for several words fit. */
    private static String nearest(String name, Collection<String> names) {
        return Optional.of(names.stream().map(each -> PREFIX + each).toList())
                .map(all -> NearMiss.didYouMeanWords(PREFIX + name, all))
                .map(question -> question.replace(PREFIX, ""))
                .orElse("");
    }

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
                for (Parameter parameter :
                        Optional.ofNullable(mojo.getParameters()).orElse(List.of())) {
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
                default ->
                    mojo.getParameterMap().containsKey("application") ? properties(Mlperf.MLPERF) : Stream.empty();
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
}
