// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.name;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.maven.group.GoalParameters;
import io.kiln.maven.group.ParameterGroup;
import io.kiln.maven.session.Budgets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.model.ReportPlugin;
import org.apache.maven.model.ReportSet;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.descriptor.MojoDescriptor;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.project.MavenProject;
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
                    .filter(each -> each != project
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
}
