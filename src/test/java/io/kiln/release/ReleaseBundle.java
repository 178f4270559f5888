// SPDX-License-Identifier: Apache-2.0
package io.kiln.release;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipFile;
import org.apache.maven.model.Model;
import org.apache.maven.model.Scm;
import org.apache.maven.model.io.xpp3.MavenXpp3Reader;
import org.codehaus.plexus.util.xml.pull.XmlPullParserException;

/**
 * What is published, in the layout of a repository: contents by path.
 *
 * <p>The rules are those that Maven Central has for a deployment: complete POMs, sources and Javadoc beside each jar, and for each file a
 * signature and checksums.
 */
record ReleaseBundle(SortedMap<String, byte[]> files) {
    private static final Map<String, String> CHECKSUMS = Map.of(".md5", "MD5", ".sha1", "SHA-1");

    /** Reads an archive. */
    static ReleaseBundle read(Path file) throws IOException {
        SortedMap<String, byte[]> files = new TreeMap<>();
        try (ZipFile zip = ZipFile.builder().setPath(file).get()) {
            for (Enumeration<ZipArchiveEntry> entries = zip.getEntries(); entries.hasMoreElements(); ) {
                ZipArchiveEntry entry = entries.nextElement();
                if (!entry.isDirectory()) {
                    try (InputStream in = zip.getInputStream(entry)) {
                        files.put(entry.getName(), in.readAllBytes());
                    }
                }
            }
        }
        return new ReleaseBundle(files);
    }

    /** What a repository of releases would refuse; empty if it takes the bundle. */
    List<String> problems() throws IOException {
        List<String> problems = new ArrayList<>();
        List<String> poms =
                files.keySet().stream().filter(name -> name.endsWith(".pom")).toList();
        if (poms.isEmpty()) {
            problems.add("no POM");
        }
        for (String pom : poms) {
            component(pom, problems);
        }
        for (String name : files.keySet()) {
            if (!name.matches(".*\\.(asc|md5|sha1|sha256|sha512)")) {
                file(name, problems);
            }
        }
        return problems;
    }

    private void component(String pom, List<String> problems) throws IOException {
        Model model;
        try {
            model = new MavenXpp3Reader().read(new ByteArrayInputStream(files.get(pom)));
        } catch (XmlPullParserException e) {
            throw new IOException(e);
        }
        String folder = model.getGroupId().replace('.', '/') + "/" + model.getArtifactId() + "/" + model.getVersion();
        String base = folder + "/" + model.getArtifactId() + "-" + model.getVersion();
        require(pom.equals(base + ".pom"), pom + ": the path is not that of its coordinates", problems);
        require(!model.getVersion().endsWith("-SNAPSHOT"), pom + ": the version is a snapshot", problems);
        require(isSet(model.getName()), pom + ": no name", problems);
        require(isSet(model.getDescription()), pom + ": no description", problems);
        require(isSet(model.getUrl()), pom + ": no url", problems);
        require(
                !model.getLicenses().isEmpty()
                        && model.getLicenses().stream()
                                .allMatch(license -> isSet(license.getName()) && isSet(license.getUrl())),
                pom + ": no licence with name and url",
                problems);
        require(
                !model.getDevelopers().isEmpty()
                        && model.getDevelopers().stream()
                                .allMatch(each ->
                                        isSet(each.getName()) && (isSet(each.getEmail()) || isSet(each.getUrl()))),
                pom + ": no developer with name and e-mail",
                problems);
        Scm scm = Optional.ofNullable(model.getScm()).orElseGet(Scm::new);
        require(isSet(scm.getUrl()) && isSet(scm.getConnection()), pom + ": no scm with url and connection", problems);
        require(
                model.getDependencies().stream()
                        .noneMatch(each -> Optional.ofNullable(each.getVersion())
                                .orElse("")
                                .endsWith("-SNAPSHOT")),
                pom + ": a dependency is a snapshot",
                problems);
        if (!model.getPackaging().equals("pom")) {
            for (String suffix : List.of(".jar", "-sources.jar", "-javadoc.jar")) {
                require(files.containsKey(base + suffix), pom + ": no " + suffix, problems);
            }
        }
    }

    private void file(String name, List<String> problems) {
        require(
                !name.endsWith(".json") || !new String(files.get(name), UTF_8).contains("file:/"),
                name + ": a folder of the computer that made it",
                problems);
        byte[] signature = files.getOrDefault(name + ".asc", new byte[0]);
        require(
                new String(signature, UTF_8).startsWith("-----BEGIN PGP SIGNATURE-----"),
                name + ": no signature",
                problems);
        CHECKSUMS.forEach((suffix, algorithm) -> require(
                digest(algorithm, files.get(name))
                        .equals(new String(files.getOrDefault(name + suffix, new byte[0]), UTF_8).strip()),
                name + ": " + suffix + " is missing or wrong",
                problems));
    }

    /** A digest as hexadecimal digits. */
    static String digest(String algorithm, byte[] content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(content));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isSet(String text) {
        return text != null && !text.isBlank();
    }

    private static void require(boolean holds, String problem, List<String> problems) {
        if (!holds) {
            problems.add(problem);
        }
    }
}
