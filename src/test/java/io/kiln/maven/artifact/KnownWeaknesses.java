// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.artifact;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.maven.artifact.versioning.DefaultArtifactVersion;
import org.apache.maven.artifact.versioning.InvalidVersionSpecificationException;
import org.apache.maven.artifact.versioning.VersionRange;

/**
 * A table of the known weaknesses of artifacts.
 *
 * @param checked the day on which it was last compared with the published advisories
 */
record KnownWeaknesses(String checked, List<Row> rows) {
    private static final String FILE = "known-weaknesses.tsv";
    private static final String DAY = "# checked: ";
    private static final String NONE = "-";
    private static final int COLUMNS = 5;

    /**
     * A weakness, or that none is known.
     *
     * @param artifact {@code *} for all artifacts of the group
     * @param affected versions as Maven writes ranges; a hyphen if no weakness is known
     */
    record Row(String group, String artifact, String affected, String id, String fixed) {
        boolean isAbout(Coordinates what) {
            return group.equals(what.group) && (artifact.equals("*") || artifact.equals(what.artifact));
        }

        boolean affects(String version) {
            try {
                return !affected.equals(NONE)
                        && VersionRange.createFromVersionSpec(affected)
                                .containsVersion(new DefaultArtifactVersion(version));
            } catch (InvalidVersionSpecificationException e) {
                throw new IllegalArgumentException(this.toString(), e);
            }
        }
    }

    /** An artifact that is shipped or fetched. */
    record Coordinates(String group, String artifact, String version) {
        /** From {@code group:artifact:version}. */
        static Coordinates parse(String text) {
            String[] parts = text.split(":", -1);
            return new Coordinates(parts[0], parts[1], parts[2]);
        }

        @Override
        public String toString() {
            return group + ":" + artifact + ":" + version;
        }
    }

    /** The table of this project. */
    static KnownWeaknesses read() {
        try (InputStream in = KnownWeaknesses.class.getResourceAsStream(FILE)) {
            List<String> lines = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            String day = lines.stream()
                    .filter(line -> line.startsWith(DAY))
                    .findFirst()
                    .orElseThrow()
                    .substring(DAY.length());
            return new KnownWeaknesses(
                    day,
                    lines.stream()
                            .filter(line -> !line.startsWith("#"))
                            .map(KnownWeaknesses::row)
                            .toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Row row(String line) {
        String[] cells = line.split("\t", -1);
        if (cells.length != COLUMNS) {
            throw new IllegalArgumentException(line);
        }
        return new Row(cells[0], cells[1], cells[2], cells[3], cells[4]);
    }

    /** What is wrong with an artifact: its weaknesses, or that nobody has looked for any. */
    List<String> problems(Coordinates what) {
        List<Row> about = rows.stream().filter(row -> row.isAbout(what)).toList();
        if (about.isEmpty()) {
            return List.of(what + " is not in " + FILE + ": look for its known weaknesses, and add a row");
        }
        return about.stream()
                .filter(row -> row.affects(what.version))
                .map(row -> what + " has " + row.id + ", fixed in " + row.fixed)
                .toList();
    }
}
