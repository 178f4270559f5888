// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** Each archetype is packed, installed, and published by a release: nobody runs the release to test it. */
final class ArchetypesTest {
    private static final Path FOLDER = Path.of("src", "main", "archetypes");

    private Document pom;
    private List<String> names;

    @BeforeEach
    void read() throws Exception {
        pom = document(Path.of("pom.xml"));
        try (Stream<Path> folders = Files.list(FOLDER)) {
            names = folders.filter(Files::isDirectory)
                    .map(folder -> folder.getFileName().toString())
                    .sorted()
                    .toList();
        }
        assertThat(names).contains("kiln-firmware", "kiln-board-profile");
    }

    @Test
    void eachIsPacked() throws Exception {
        List<String> descriptors = new ArrayList<>(List.of("src/build/archetypes/notes.xml"));
        names.forEach(name -> descriptors.add("src/main/archetypes/" + name + ".xml"));
        assertThat(texts(execution("archetypes"), "descriptor")).containsExactlyInAnyOrderElementsOf(descriptors);
        assertThat(text(execution("archetypes"), "finalName")).isEqualTo("archetype");
        for (String name : names) {
            assertThat(texts(document(FOLDER.resolve(name + ".xml")).getDocumentElement(), "id"))
                    .containsExactly(name);
            Element project =
                    document(Path.of("src/build/archetypes", name + ".xml")).getDocumentElement();
            assertThat(text(project, "groupId") + ":" + text(project, "artifactId") + ":" + text(project, "version"))
                    .isEqualTo("@project.groupId@:" + name + ":@project.version@");
        }
    }

    @Test
    void eachIsInstalled() {
        assertThat(published("install-file")).isEqualTo(expected("install"));
    }

    @Test
    void eachIsSignedAndPublishedByARelease() {
        assertThat(published("sign-and-deploy-file")).isEqualTo(expected("deploy"));
        for (Element execution : executions("sign-and-deploy-file")) {
            assertThat(text(execution, "url")).isEqualTo("${release.url}");
            assertThat(text(execution, "repositoryId")).isEqualTo("${release.id}");
            assertThat(texts((Element) profile(execution), "id")).first().isEqualTo("release");
        }
    }

    /** By the archetype's POM: phase, type and file. */
    private Map<String, List<String>> published(String goal) {
        Map<String, List<String>> published = new TreeMap<>();
        for (Element execution : executions(goal)) {
            published.put(
                    text(execution, "pomFile"),
                    Stream.of("phase", "packaging", "file")
                            .map(key -> text(execution, key))
                            .toList());
        }
        return published;
    }

    private Map<String, List<String>> expected(String phase) {
        Map<String, List<String>> expected = new TreeMap<>();
        names.forEach(name -> expected.put(
                "${project.build.directory}/archetype-poms/" + name + ".xml",
                List.of(phase, "jar", "${project.build.directory}/archetype-" + name + ".jar")));
        return expected;
    }

    private List<Element> executions(String goal) {
        return elements(pom.getDocumentElement(), "execution").stream()
                .filter(execution -> texts(execution, "goal").contains(goal))
                .toList();
    }

    private Element execution(String id) {
        return elements(pom.getDocumentElement(), "execution").stream()
                .filter(execution -> text(execution, "id").equals(id))
                .findFirst()
                .orElseThrow();
    }

    private static Node profile(Node node) {
        return node.getNodeName().equals("profile") ? node : profile(node.getParentNode());
    }

    private static String text(Element element, String name) {
        return texts(element, name).stream().findFirst().orElse("");
    }

    private static List<String> texts(Element element, String name) {
        return elements(element, name).stream()
                .map(each -> each.getTextContent().strip())
                .toList();
    }

    private static List<Element> elements(Element element, String name) {
        List<Element> found = new ArrayList<>();
        for (int i = 0; i < element.getElementsByTagName(name).getLength(); i++) {
            found.add((Element) element.getElementsByTagName(name).item(i));
        }
        return found;
    }

    private static Document document(Path file) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
    }
}
