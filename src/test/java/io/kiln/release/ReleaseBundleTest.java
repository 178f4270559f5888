// SPDX-License-Identifier: Apache-2.0
package io.kiln.release;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** What may be published. */
final class ReleaseBundleTest {
    private static final String PLUGIN = "io/kiln/kiln-maven-plugin/";
    private static final List<String> ARCHETYPES = List.of("kiln-firmware", "kiln-board-profile");

    @Test
    @NeedsShared("release")
    void everyCaseOfTheTableIsJudgedAsItSays() throws Exception {
        List<String> lines = Files.readAllLines(SharedFolder.need("release").resolve("poms.tsv"));
        assertThat(lines).hasSizeGreaterThan(15);
        for (String line : lines.subList(1, lines.size())) {
            String[] cells = line.split("\t", -1);
            List<String> problems = bundle(cells[0]).problems();
            if (cells[2].equals("accept")) {
                assertThat(problems).as(line).isEmpty();
            } else {
                assertThat(problems).as(line).isNotEmpty();
            }
        }
    }

    @Test
    void thePomsOfThisBuildAreComplete() throws Exception {
        ReleaseBundle bundle = new ReleaseBundle(
                new TreeMap<>(complete(Files.readString(Path.of("pom.xml")).replace("-SNAPSHOT", ""))));
        assertThat(bundle.problems()).isEmpty();
        for (String archetype : ARCHETYPES) {
            String pom = Files.readString(Path.of("src/build/archetypes", archetype + ".xml"));
            assertThat(pom).contains("<artifactId>" + archetype + "</artifactId>");
            for (String required :
                    List.of("name", "description", "url", "licenses", "developers", "scm", "connection")) {
                assertThat(pom).contains("<" + required + ">");
            }
        }
    }

    /** Two checkouts give the same bytes only if none of them says where it is. */
    @Test
    void noFileSaysWhereItWasMade() throws Exception {
        SortedMap<String, byte[]> files = complete(pom());
        String bill = PLUGIN + "1.0.0/kiln-maven-plugin-1.0.0-cyclonedx.json";
        put(files, bill, "{\"url\": \"https://kiln.io\"}");
        assertThat(new ReleaseBundle(files).problems()).isEmpty();
        put(files, bill, "{\"url\": \"file:///home/me/kiln/target/release\"}");
        assertThat(new ReleaseBundle(files).problems())
                .containsExactly(bill + ": a folder of the computer that made it");
        assertThat(Files.readString(Path.of("pom.xml")))
                .as("a bill of materials has its address")
                .doesNotContain("<distributionManagement>");
    }

    @Test
    void aReleasesVersionIsThatOfItsTagAndOfItsChanges() throws Exception {
        String pom = Files.readString(Path.of("pom.xml"));
        String version = pom.replaceAll("(?s).*?<version>(.*?)</version>.*", "$1");
        String changes = Files.readString(Path.of("CHANGES.md"));
        String tag = pom.replaceAll("(?s).*<tag>(.*?)</tag>.*", "$1");
        if (version.endsWith("-SNAPSHOT")) {
            assertThat(tag).isEqualTo("HEAD");
            assertThat(changes).containsPattern("\n## [0-9.]+, not yet released\n");
        } else {
            assertThat(tag).isEqualTo("v" + version);
            assertThat(changes).containsPattern("\n## " + version + ", [0-9]{4}-[0-9]{2}-[0-9]{2}\n");
        }
    }

    /** Run with the bundle that the profile {@code release} makes. */
    @Test
    @EnabledIfSystemProperty(named = "kiln.bundle", matches = ".+")
    void theBundleThatWasMadeCanBePublished() throws Exception {
        ReleaseBundle bundle = ReleaseBundle.read(Path.of(System.getProperty("kiln.bundle")));
        assertThat(bundle.problems()).isEmpty();
        assertThat(bundle.files().keySet())
                .anyMatch(name -> name.matches(PLUGIN + ".*-cyclonedx\\.json"))
                .noneMatch(name -> name.contains("maven-metadata"));
        for (String archetype : ARCHETYPES) {
            assertThat(bundle.files().keySet())
                    .anyMatch(name -> name.matches("io/kiln/" + archetype + "/.*[0-9]\\.jar"));
        }
    }

    /** A complete bundle with one change. */
    private static ReleaseBundle bundle(String change) {
        String pom = pom();
        SortedMap<String, byte[]> files = switch (change) {
            case "scm without url" -> complete(pom.replaceAll("(?s)(<scm>.*?)<url>.*?</url>", "$1"));
            case "no name", "archetype jar without POM name" -> complete(pom.replaceFirst("<name>The.*?</name>", ""));
            case "no description" -> complete(pom.replaceAll("<description>.*?</description>", ""));
            case "licence without url" -> complete(pom.replace("<url>l</url>", ""));
            case "no developers" -> complete(pom.replaceAll("<developers>.*?</developers>", ""));
            case "version 1.0.0-SNAPSHOT" -> complete(pom.replace("1.0.0", "1.0.0-SNAPSHOT"));
            case "dependency on a SNAPSHOT" -> complete(pom.replace("9.9", "9.9-SNAPSHOT"));
            default -> complete(pom);
        };
        String base = PLUGIN + "1.0.0/kiln-maven-plugin-1.0.0";
        switch (change) {
            case "complete" -> files.put(base + ".jar.sha512", new byte[1]);
            case "sources jar not in the bundle" -> files.remove(base + "-sources.jar");
            case "javadoc jar not in the bundle" -> files.remove(base + "-javadoc.jar");
            case "jar without .sha1" -> files.remove(base + ".jar.sha1");
            case "jar with a .md5 of other content" -> files.put(base + ".jar.md5", files.get(base + ".pom.md5"));
            case "directory names not equal to coordinates" ->
                files.keySet().stream()
                        .toList()
                        .forEach(name -> files.put(name.replace("/1.0.0/", "/1.0.1/"), files.remove(name)));
            default -> {
                // The change is one of the POM, or of files that none needs.
            }
        }
        return new ReleaseBundle(files);
    }

    private static String pom() {
        return "<project><modelVersion>4.0.0</modelVersion><groupId>io.kiln</groupId><artifactId>kiln-maven-plugin</artifactId><version>1.0.0</version><packaging>maven-plugin</packaging><name>The"
                + " plugin</name><description>d</description>"
                + "<url>u</url><licenses><license><name>n</name><url>l</url></license></licenses>"
                + "<developers><developer><name>n</name><email>e</email></developer></developers>"
                + "<scm><connection>c</connection><url>s</url></scm>"
                + "<dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId><version>9.9</version></dependency></dependencies>"
                + "</project>";
    }

    /** A bundle of one component with everything that it needs. */
    private static SortedMap<String, byte[]> complete(String pom) {
        String version = pom.replaceAll("(?s).*?<version>(.*?)</version>.*", "$1");
        String base = PLUGIN + version + "/kiln-maven-plugin-" + version;
        SortedMap<String, byte[]> files = new TreeMap<>();
        put(files, base + ".pom", pom);
        List.of(".jar", "-sources.jar", "-javadoc.jar").forEach(suffix -> put(files, base + suffix, suffix));
        return files;
    }

    private static void put(SortedMap<String, byte[]> files, String name, String text) {
        byte[] content = text.getBytes(UTF_8);
        files.put(name, content);
        files.put(name + ".asc", "-----BEGIN PGP SIGNATURE-----".getBytes(UTF_8));
        files.put(name + ".md5", ReleaseBundle.digest("MD5", content).getBytes(UTF_8));
        files.put(name + ".sha1", ReleaseBundle.digest("SHA-1", content).getBytes(UTF_8));
    }
}
