// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.name;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.docs.DocBlock;
import io.kiln.maven.group.ParameterGroup;
import io.kiln.maven.name.UnknownNames.KnownNames;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.plugin.descriptor.PluginDescriptorBuilder;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** What the pages tell to type on a command line, or to write into a POM, exists: goals, parameters, profiles, versions, files. */
public final class DocumentedNamesTest {
    private static final String VERSION = "0.1.0-SNAPSHOT";
    private static final String PLUGIN = "io.kiln:kiln-maven-plugin:" + VERSION + ":";

    private static final Set<String> PHASES = Set.of("clean", "test", "verify", "install", "deploy", "site", "package");

    /** Goals of others that Maven finds by their prefixes. */
    private static final Set<String> OTHERS = Set.of("archetype:generate", "spotless:apply", "dependency:get");

    private static final Pattern WORD = Pattern.compile("(?:[^\\s\"]|\"[^\"]*\")+");

    /** Programs of others than Maven, which the pages call. */
    private static final Set<String> PROGRAMS =
            Set.of("apt-get", "tvmc", "vela", "openssl", "keytool", "sh", "cd", "src/test/bench.sh");

    private static PluginDescriptor plugin;
    private static KnownNames known;
    private static Map<String, Set<String>> properties;
    private static String pom;
    private static String tests;

    @BeforeAll
    static void read() throws Exception {
        try (Reader reader = Files.newBufferedReader(Path.of("target/classes/META-INF/maven/plugin.xml"))) {
            plugin = new PluginDescriptorBuilder().build(reader);
        }
        known = KnownNames.of(plugin);
        properties = known.read();
        pom = Files.readString(Path.of("pom.xml"));
        tests = Files.readString(Path.of("pom.xml")) + allTests();
    }

    private static String allTests() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
            StringBuilder text = new StringBuilder();
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                text.append(file.getFileName()).append('\n').append(Files.readString(file));
            }
            return text.toString();
        }
    }

    @Test
    void everyCommandCanBeTyped() {
        List<String> wrong = new ArrayList<>();
        int commands = 0;
        for (DocBlock block : DocBlock.toCheck("sh", "yaml")) {
            for (String line : lines(block)) {
                List<String> words = new ArrayList<>();
                WORD.matcher(line)
                        .results()
                        .forEach(word -> words.add(word.group().replace("\"", "")));
                commands++;
                command(words, what -> wrong.add(block.where() + ": " + what));
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(commands).isGreaterThan(70);
    }

    /** The commands of a block, each on one line, without comments. */
    private static List<String> lines(DocBlock block) {
        Stream<String> lines = block.text().replaceAll("\\\\\n\\s*", "").lines();
        if (block.language().equals("yaml")) {
            return lines.filter(line -> line.contains("mvn "))
                    .map(line -> line.substring(line.indexOf("mvn ")))
                    .toList();
        }
        return lines.map(line -> line.replaceFirst("(^|\\s+)#.*", ""))
                .filter(line -> !line.isBlank())
                .toList();
    }

    private static void command(List<String> words, java.util.function.Consumer<String> wrong) {
        String program = words.get(0);
        if (!program.equals("mvn")) {
            if (!PROGRAMS.contains(program) || (program.contains("/") && !Files.isExecutable(Path.of(program)))) {
                wrong.accept(program + " is no program that pages call");
            }
            return;
        }
        Set<String> goals = new TreeSet<>();
        boolean isOwnBuild = false;
        boolean hasPhase = false;
        for (int i = 1; i < words.size(); i++) {
            String word = words.get(i);
            if (word.equals("-f")) {
                i++;
            } else if (word.startsWith("-P")) {
                isOwnBuild = true;
                if (!pom.contains("<id>" + word.substring(2) + "</id>")) {
                    wrong.accept("there is no profile " + word);
                }
            } else if (word.startsWith(PLUGIN) || word.startsWith("kiln:")) {
                goals.add(word.substring(word.lastIndexOf(':') + 1));
            } else if (PHASES.contains(word) || OTHERS.contains(word)) {
                hasPhase = true;
            } else if (!word.startsWith("-D") && !List.of("-B", "-ntp").contains(word)) {
                wrong.accept(word + " is no goal, phase or option that is known");
            }
        }
        goals.stream()
                .filter(goal -> !properties.containsKey(goal))
                .forEach(goal -> wrong.accept("there is no goal kiln:" + goal));
        for (String word : words) {
            if (word.startsWith("-D")) {
                property(word.substring(2), goals, hasPhase || isOwnBuild, wrong);
            }
        }
    }

    private static void property(
            String given, Set<String> goals, boolean hasOthers, java.util.function.Consumer<String> wrong) {
        String name = given.split("=", 2)[0];
        if (name.equals("test")) {
            for (String test : given.substring("test=".length()).split(",", -1)) {
                if (!tests.contains("\n" + test + ".java\n")) {
                    wrong.accept("there is no test " + test);
                }
            }
        } else if (name.startsWith("kiln.") && known.hasProperty(name)) {
            boolean isFamily = !known.properties().contains(name);
            if (!hasOthers
                    && !isFamily
                    && goals.stream()
                            .noneMatch(goal ->
                                    properties.getOrDefault(goal, Set.of()).contains(name))) {
                wrong.accept("no goal of " + goals + " reads " + name);
            }
        } else if (name.startsWith("archetype")
                || List.of("groupId", "artifactId", "version", "board").contains(name)) {
            if (name.equals("archetypeArtifactId")
                    && !Files.isDirectory(Path.of("src/main/archetypes").resolve(given.split("=", 2)[1]))) {
                wrong.accept("there is no archetype " + given);
            }
        } else if (!(hasOthers && (tests.contains("\"" + name + "\"") || tests.contains("${" + name + "}")))
                && !name.equals("skipTests")) {
            wrong.accept("nothing reads " + name);
        }
    }

    @Test
    void everyPieceOfXmlIsOfAPomThatKilnAndMavenTake() throws Exception {
        List<String> wrong = new ArrayList<>();
        List<DocBlock> blocks = DocBlock.toCheck("xml");
        assertThat(blocks).hasSizeGreaterThan(15);
        for (DocBlock block : blocks) {
            Element root = parsed(block);
            new XmlNames(block.where(), wrong).check(root);
        }
        assertThat(wrong).isEmpty();
    }

    private static Element parsed(DocBlock block) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
        return factory.newDocumentBuilder()
                .parse(new InputSource(new StringReader("<block>" + block.text() + "</block>")))
                .getDocumentElement();
    }

    /**
     * Checks names in XML.
     *
     * @param where the place
     * @param wrong gets what is wrong
     */
    private record XmlNames(String where, List<String> wrong) {
        /** Elements of the plugin's configuration that are objects, and their Java classes. */
        private static final Map<String, String> BEANS = Map.of(
                "model", "io.kiln.maven.bean.Model",
                "external", "io.kiln.maven.bean.ExternalBean");

        private static final Set<String> TYPES = Set.of("board-profile", "firmware-library", "model", "tuning-records");

        void check(Element element) {
            switch (element.getTagName()) {
                case "configuration" -> configuration(element);
                case "properties" ->
                    children(element)
                            .forEach(each ->
                                    known("property " + each.getTagName(), known.hasProperty(each.getTagName())));
                case "goal" -> known("goal " + text(element), properties.containsKey(text(element)));
                case "packaging" ->
                    known(
                            "packaging " + text(element),
                            components().contains("<role-hint>" + text(element) + "</role-hint>"));
                case "type" ->
                    known(
                            "type " + text(element),
                            !isDependency(element)
                                    || (TYPES.contains(text(element))
                                            && components().contains(text(element))));
                case "version" ->
                    known(
                            "version " + text(element),
                            !parentText(element, "groupId").equals("io.kiln")
                                    || text(element).equals(VERSION));
                case "models", "externals", "customOperators" -> {
                    known(
                            "<" + element.getTagName() + ">",
                            known.elements(List.of()).contains(element.getTagName()));
                    children(element).forEach(this::bean);
                }
                case "customOperator" -> bean(element);
                default -> children(element).forEach(this::check);
            }
        }

        /** Of the plugin; that of a toolchain is Maven's. */
        private void configuration(Element element) {
            if (((Element) element.getParentNode()).getTagName().equals("toolchain")) {
                return;
            }
            Set<String> goals = new TreeSet<>();
            NodeList named = ((Element) element.getParentNode()).getElementsByTagName("goal");
            for (int i = 0; i < named.getLength(); i++) {
                goals.add(named.item(i).getTextContent());
            }
            for (Element child : children(element)) {
                String name = child.getTagName();
                known("<" + name + ">", known.elements(goals).contains(name));
                ParameterGroup.of(name)
                        .ifPresent(group -> children(child)
                                .forEach(each -> known(
                                        "<" + name + "><" + each.getTagName() + ">",
                                        group.elements().stream()
                                                .anyMatch(own -> own.name().equals(each.getTagName())))));
                check(child);
            }
        }

        private void bean(Element element) {
            if (element.getTagName().equals("customOperator")) {
                children(element)
                        .forEach(each -> known(
                                "<customOperator><" + each.getTagName() + ">",
                                goalParameter("customOperators").contains("{@code " + each.getTagName() + "}")));
                return;
            }
            try {
                Set<String> fields = Arrays.stream(
                                Class.forName(BEANS.get(element.getTagName())).getDeclaredFields())
                        .map(Field::getName)
                        .collect(Collectors.toSet());
                children(element)
                        .forEach(each -> known(
                                "<" + element.getTagName() + "><" + each.getTagName() + ">",
                                fields.contains(each.getTagName())));
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException(e);
            }
        }

        /** What the descriptor says of a parameter. */
        private static String goalParameter(String name) {
            try {
                String mojo = Files.readString(Path.of("src/main/java/io/kiln/maven/AbstractBuildMojo.java"));
                int end = mojo.indexOf(" " + name + ";");
                return mojo.substring(mojo.lastIndexOf("/**", end), end);
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }

        private void known(String what, boolean isKnown) {
            if (!isKnown) {
                wrong.add(where + ": " + what);
            }
        }

        private static boolean isDependency(Element element) {
            return ((Element) element.getParentNode()).getTagName().equals("dependency");
        }

        private static String parentText(Element element, String name) {
            return children((Element) element.getParentNode()).stream()
                    .filter(each -> each.getTagName().equals(name))
                    .map(XmlNames::text)
                    .findFirst()
                    .orElse("");
        }

        private static String text(Element element) {
            return element.getTextContent().strip();
        }

        private static List<Element> children(Element element) {
            List<Element> children = new ArrayList<>();
            NodeList all = element.getChildNodes();
            for (int i = 0; i < all.getLength(); i++) {
                if (all.item(i) instanceof Element child) {
                    children.add(child);
                }
            }
            return children;
        }

        private static String components() {
            try {
                return Files.readString(Path.of("src/main/resources/META-INF/plexus/components.xml"));
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }
    }
}
