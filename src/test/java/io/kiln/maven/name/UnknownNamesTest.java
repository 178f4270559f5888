// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.tuple;

import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.base.Problem;
import io.kiln.maven.ToldGoal;
import io.kiln.maven.name.UnknownNames.KnownNames;
import io.kiln.maven.name.UnknownNames.PropertyPlaces;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.io.Reader;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Activation;
import org.apache.maven.model.ActivationProperty;
import org.apache.maven.model.InputSource;
import org.apache.maven.model.Model;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.model.Profile;
import org.apache.maven.model.io.xpp3.MavenXpp3ReaderEx;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.plugin.descriptor.PluginDescriptorBuilder;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Which names are refused, where they are said to stand and what is offered in their place. */
final class UnknownNamesTest {
    private static PluginDescriptor descriptor;

    private final ToldGoal goal = new ToldGoal();

    @BeforeAll
    static void read() throws Exception {
        try (Reader reader = Files.newBufferedReader(Path.of("target/classes/META-INF/maven/plugin.xml"))) {
            descriptor = new PluginDescriptorBuilder().build(reader);
        }
    }

    @Test
    @NeedsShared("release")
    void propertiesAreJudgedAsTheTableSays() throws Exception {
        List<String> lines = Files.readAllLines(SharedFolder.need("release").resolve("properties.tsv"));
        assertThat(lines).hasSizeGreaterThan(30);
        for (String line : lines.subList(1, lines.size())) {
            String[] cells = line.split("\t", -1);
            ToldGoal told = new ToldGoal();
            boolean isUser = cells[1].equals("user");
            (isUser ? told.user() : told.properties()).setProperty(cells[0], "x");
            if (cells[1].contains("used as ${")) {
                told.project().setOriginalModel(using(cells[0]));
            }
            List<Problem> problems = problems(told);
            if (!cells[2].equals("unknown")) {
                assertThat(problems).as(line).isEmpty();
                continue;
            }
            assertThat(problems).as(line).singleElement().satisfies(problem -> {
                assertThat(problem.what()).endsWith("has the property " + cells[0]);
                assertThat(problem.where()).contains(isUser ? "the command line" : "com.example:app");
                assertThat(NearMiss.ofWords(cells[0], KnownNames.of(descriptor).properties()).stream()
                                .findFirst()
                                .orElse(""))
                        .isEqualTo(cells[3]);
                assertThat(problem.next()).contains(cells[3]);
            });
        }
    }

    @Test
    void everythingUnknownIsToldAtOnceWithItsPlace() {
        goal.user().setProperty("kiln.optimise", "size");
        goal.system().setProperty("kiln.bordar", "x");
        goal.properties().setProperty("kiln.quantiseSamples", "x");
        goal.element("optimise", "size").farm("pasword", "x");
        goal.plugin().addExecution(execution("more", List.of("boards"), "output", "optimize", "zzz"));
        assertThat(problems(goal).stream()
                        .map(problem -> problem.where() + ": " + problem.what())
                        .map(text -> text.replaceAll("(?<=other goals: ).*", "")))
                .containsExactlyInAnyOrder(
                        "MAVEN_OPTS or .mvn/jvm.config: no parameter of Kiln 1 has the property kiln.bordar",
                        "the command line: no parameter of Kiln 1 has the property kiln.optimise",
                        "the properties of com.example:app:firmware:1: no parameter of Kiln 1 has the property"
                                + " kiln.quantiseSamples",
                        "<configuration> of the plugin: no goal of Kiln 1 takes <optimise>",
                        "<configuration> of the plugin: <farm> has no element <pasword>",
                        "<configuration> of the execution more: no goal of Kiln 1 takes <zzz>",
                        "<configuration> of the execution more: <optimize> is of other goals: ");
        assertThat(problems(goal).stream().map(Problem::next).filter(next -> next.startsWith("Did you mean")))
                .anyMatch(next -> next.startsWith("Did you mean kiln.quantize.samples? kiln:help"))
                .contains("Did you mean kiln.optimize?", "Did you mean optimize?", "Did you mean password?");
    }

    /** Maven says where elements of a POM stand, and keeps those for its site apart. */
    @Test
    void elementsAreToldWithTheirLine() throws Exception {
        String pom = """
            <project>
              <reporting>
                <plugins>
                  <plugin>
                    <groupId>io.kiln</groupId>
                    <artifactId>kiln-maven-plugin</artifactId>
                    <configuration>
                      <outputDirektory>x</outputDirektory>
                    </configuration>
                    <reportSets>
                      <reportSet>
                        <configuration>
                          <zzz>x</zzz>
                        </configuration>
                      </reportSet>
                    </reportSets>
                  </plugin>
                </plugins>
              </reporting>
            </project>
            """;
        InputSource file = new InputSource();
        file.setLocation("/app/pom.xml");
        Model read = new MavenXpp3ReaderEx().read(new StringReader(pom), true, file);
        goal.project().getModel().setReporting(read.getReporting());
        assertThat(problems(goal))
                .extracting(problem -> problem.where() + ": " + problem.what() + " " + problem.next())
                .containsExactly(
                        "/app/pom.xml, line 8, <configuration> of the plugin in <reporting>: no goal of Kiln 1 takes"
                                + " <outputDirektory> Did you mean outputDirectory?",
                        "/app/pom.xml, line 13, <configuration> of the plugin in <reporting>: no goal of Kiln 1 takes"
                                + " <zzz> ");
    }

    @Test
    void maven4TellsLinesByTheTextOfAnotherClass() {
        Xpp3Dom element = new Xpp3Dom("zzz");
        for (List<String> each : List.of(
                List.of("file:///app/pom.xml @ 8:30", "/app/pom.xml, line 8, "),
                List.of("/an @ app/pom.xml @ 12:1", "/an @ app/pom.xml, line 12, "),
                List.of("n/a", ""))) {
            element.setInputLocation(each.get(0));
            assertThat(PropertyPlaces.place(element)).isEqualTo(each.get(1));
        }
        element.setInputLocation(null);
        assertThat(PropertyPlaces.place(element)).isEmpty();
    }

    @Test
    void budgetsHaveFewNames() {
        Xpp3Dom budget = new Xpp3Dom("budget");
        for (String name : List.of("ram", "flsh")) {
            budget.addChild(new Xpp3Dom(name));
        }
        ((Xpp3Dom) goal.plugin().getConfiguration()).addChild(budget);
        goal.user().setProperty("kiln.budget.instruction", "10");
        goal.user().setProperty("kiln.budget.baseline", "x");
        assertThat(problems(goal))
                .extracting(Problem::what, problem -> problem.next().replaceAll("(?<=[?]).*", ""))
                .containsExactly(
                        tuple(
                                "no parameter of Kiln 1 has the property kiln.budget.instruction",
                                "Did you mean kiln.budget.instructions?"),
                        tuple("<budget> has no element <flsh>", "Did you mean flash?"));
        goal.user().remove("kiln.budget.instruction");
        goal.project().setExecutionRoot(true);
        goal.request().setGoals(List.of("verify"));
        assertThat(unread("resolve")).isEmpty();
    }

    /** What is wrong in the last module is told before the first one is built, and what modules share is told once. */
    @Test
    void allModulesAreCheckedBeforeTheFirstIsBuilt() {
        ToldGoal other = new ToldGoal();
        other.project().setArtifactId("other");
        other.element("bord", "x");
        goal.user().setProperty("kiln.optimise", "size");
        other.properties().setProperty("kiln.boardz", "x");
        ToldGoal skipped = new ToldGoal();
        skipped.properties().setProperty("kiln.skip", "true");
        ToldGoal older = new ToldGoal();
        older.plugin().setVersion("0.9");
        for (ToldGoal each : List.of(skipped, older)) {
            each.project().setArtifactId("later-" + each.plugin().getVersion());
            each.properties().setProperty("kiln.later", "x");
        }
        MavenSession session = goal.session();
        session.setProjects(List.of(goal.project(), other.project(), skipped.project(), older.project()));
        List<String> told =
                problems(session, goal.project()).stream().map(Problem::what).toList();
        assertThat(told)
                .containsExactly(
                        "no parameter of Kiln 1 has the property kiln.optimise",
                        "no parameter of Kiln 1 has the property kiln.boardz",
                        "no goal of Kiln 1 takes <bord>");
        assertThat(problems(session, goal.project()))
                .as("the goal's own, from then on")
                .hasSize(1);
    }

    @Test
    void namesOfTheUsersOwnAreLeftAlone() {
        Model model = using("kiln.myFolder");
        Profile profile = new Profile();
        profile.setId("night");
        Activation activation = new Activation();
        ActivationProperty property = new ActivationProperty();
        property.setName("kiln.night");
        activation.setProperty(property);
        profile.setActivation(activation);
        model.addProfile(profile);
        goal.project().setOriginalModel(model);
        goal.user().setProperty("kiln.night", "true");
        goal.properties().setProperty("kiln.myFolder", "x");
        goal.properties().setProperty("kiln.version", "1");
        goal.properties().setProperty("kiln.team", "x");
        goal.properties().setProperty("kiln.ignoredProperties", "kiln.other, kiln.team");
        goal.properties().setProperty("kiln.memory.dtcm", "10");
        goal.properties().setProperty("kiln.budget.flash", "10");
        assertThatCode(() -> check(goal.session(), goal.project())).doesNotThrowAnyException();

        goal.properties().remove("kiln.ignoredProperties");
        assertThat(problems(goal))
                .singleElement()
                .satisfies(problem -> assertThat(problem.what()).endsWith("kiln.team"));
    }

    @Test
    void knownNamesThatNothingReadsAreToldOnce() {
        goal.user().setProperty("kiln.farm.listen", "tcp://x");
        goal.user().setProperty("kiln.board", "host");
        goal.user().setProperty("kiln.verify.samples", "1");
        goal.user().setProperty("kiln.memory.dtcm", "1");
        goal.project().setExecutionRoot(true);
        goal.request().setGoals(List.of("clean", "verify"));
        assertThat(unread("resolve")).containsExactly("kiln.farm.listen changes nothing here: it is of kiln:farm");
        assertThat(unread("generate")).isEmpty();
        goal.request().setGoals(List.of());
        assertThat(unread("resolve")).hasSize(1);
        PluginExecution farm = execution("more", List.of("farm"));
        goal.plugin().addExecution(farm);
        assertThat(unread("resolve")).as("the POM binds the goal that reads it").isEmpty();
        goal.plugin().removeExecution(farm);
        goal.request().setGoals(List.of("io.kiln:kiln-maven-plugin:1:boards", "kiln:farm@x"));
        assertThat(unread("farm")).isEmpty();
        assertThat(unread("boards"))
                .singleElement()
                .asString()
                .startsWith("kiln.verify.samples changes nothing here: ");
        goal.project().setExecutionRoot(false);
        assertThat(unread("boards")).isEmpty();
    }

    /** What a goal reads without declaring it is read, too. */
    @Test
    void whatGoalsDoNotDeclareIsRead() {
        goal.project().setExecutionRoot(true);
        for (List<String> each : List.of(
                List.of("mlperf", "kiln.mlperf.on"),
                List.of("mlperf", "kiln.monitor.port"),
                List.of("build", "kiln.mlperf.mode"),
                List.of("doctor", "kiln.libc"),
                List.of("doctor", "kiln.test.units"))) {
            goal.user().clear();
            goal.user().setProperty(each.get(1), "x");
            goal.request().setGoals(List.of("kiln:" + each.get(0)));
            assertThat(unread(each.get(0))).as("%s", each).isEmpty();
        }
    }

    private List<String> unread(String name) {
        return UnknownNames.unread(
                goal.session(), goal.project(), new MojoExecution(descriptor.getMojo(name), "default"));
    }

    @Test
    void everyNameOfTheDescriptorIsKnown() {
        KnownNames known = KnownNames.of(descriptor);
        assertThat(known.properties())
                .hasSizeGreaterThan(140)
                .allSatisfy(name -> assertThat(known.hasProperty(name)).isTrue());
        assertThat(known.properties())
                .filteredOn(name -> !name.equals(KnownNames.IGNORED))
                .as("each is read, or a command line with it would be said to change nothing")
                .allSatisfy(name -> assertThat(known.readers(name)).isNotEmpty());
        assertThat(known.elements().keySet()).hasSize(descriptor.getMojos().size());
        assertThat(known.elements(List.of("boards"))).contains("output").doesNotContain("optimize");
        assertThat(known.elements(List.of())).contains("output", "optimize", "quantizeSamples");
    }

    @Test
    void aTypingErrorInAnyKnownNameFindsIt() {
        KnownNames known = KnownNames.of(descriptor);
        for (String name : known.properties()) {
            int middle = name.lastIndexOf('.') + 1 + (name.length() - name.lastIndexOf('.') - 1) / 2;
            String doubled = name.substring(0, middle) + name.charAt(middle) + name.substring(middle);
            assertThat(NearMiss.ofWords(doubled, known.properties()))
                    .as(doubled)
                    .contains(name);
        }
    }

    /** What readers copy from pages and scenarios passes. */
    @Test
    void pagesAndScenariosUseKnownNames() throws Exception {
        KnownNames known = KnownNames.of(descriptor);
        Pattern used = Pattern.compile("(?:-D|<)(kiln\\.[A-Za-z][\\w.]*\\w)(?=[=> `])");
        Set<String> others = namesOfTests();
        others.addAll(List.of("kiln.version", "kiln.budgets.ram", "kiln.models.folder", "kiln.vectors.verify"));
        List<String> found = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        for (Path file : readable()) {
            Matcher name = used.matcher(Files.readString(file));
            while (name.find()) {
                found.add(name.group(1));
                if (!known.hasProperty(name.group(1)) && !others.contains(name.group(1))) {
                    unknown.add(file + ": " + name.group(1));
                }
            }
        }
        assertThat(found).hasSizeGreaterThan(200);
        assertThat(unknown).isEmpty();
    }

    /** The names that the project's own tests read. */
    private static Set<String> namesOfTests() throws Exception {
        Pattern quoted = Pattern.compile("\"(kiln\\.[\\w.]+)\"");
        try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
            Set<String> names = new TreeSet<>();
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                quoted.matcher(Files.readString(file)).results().forEach(name -> names.add(name.group(1)));
            }
            return names;
        }
    }

    private static List<Path> readable() throws Exception {
        List<Path> files = new ArrayList<>(List.of(Path.of("README.md")));
        for (String folder : List.of("src/site", "src/it", "src/main/archetypes")) {
            try (Stream<Path> all = Files.walk(Path.of(folder))) {
                all.filter(file -> file.toString().matches(".*\\.(md|xml|properties|groovy|yaml|json|service)"))
                        .forEach(files::add);
            }
        }
        return files;
    }

    private static Model using(String name) {
        Model model = new Model();
        model.addProperty("folder", "${" + name + "}/models");
        return model;
    }

    private static PluginExecution execution(String id, List<String> goals, String... elements) {
        Xpp3Dom configuration = new Xpp3Dom("configuration");
        for (String name : elements) {
            configuration.addChild(new Xpp3Dom(name));
        }
        PluginExecution execution = new PluginExecution();
        execution.setId(id);
        execution.setGoals(goals);
        execution.setConfiguration(configuration);
        return execution;
    }

    private static void check(MavenSession session, MavenProject project) {
        descriptor.setVersion("1");
        UnknownNames.check(session, project, new MojoExecution(descriptor.getMojo("link"), "default-link"));
    }

    private static List<Problem> problems(ToldGoal told) {
        return problems(told.session(), told.project());
    }

    private static List<Problem> problems(MavenSession session, MavenProject project) {
        try {
            check(session, project);
            return List.of();
        } catch (KilnException e) {
            return e.problems();
        }
    }
}
