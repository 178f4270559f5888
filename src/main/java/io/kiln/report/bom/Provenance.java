// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.bom;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * From what an image was built: an in-toto statement (version 1) with SLSA's provenance (version 1) as its predicate. Signing it is left to the user's own tools.
 */
public record Provenance(
        @JsonProperty("_type") String type, List<Resource> subject, String predicateType, Predicate predicate) {
    private static final String STATEMENT = "https://in-toto.io/Statement/v1";
    private static final String PREDICATE = "https://slsa.dev/provenance/v1";

    /** The kind of build and its builder, named by Kiln's Maven coordinates. */
    private static final String KILN = "pkg:maven/io.kiln/kiln-maven-plugin@";

    public Provenance {
        subject = List.copyOf(subject);
    }

    /**
     * A file.
     *
     * @param digest digest by algorithm
     */
    public record Resource(String name, Map<String, String> digest) {
        /** A file with its SHA-256. */
        public static Resource of(String name, String sha256) {
            return new Resource(name, Map.of("sha256", sha256));
        }
    }

    /** How the files were made. */
    public record Predicate(Definition buildDefinition, Run runDetails) {}

    /** The parameters of the build, and the files that it read. */
    public record Definition(
            String buildType,
            SortedMap<String, String> externalParameters,
            SortedMap<String, String> internalParameters,
            List<Resource> resolvedDependencies) {}

    /** The run of the builder: who built, and when. */
    public record Run(
            Builder builder,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) SortedMap<String, String> metadata) {}

    /** The builder. */
    public record Builder(String id) {}

    /**
     * Makes a statement.
     *
     * @param files the files that were made
     * @param made version of Kiln
     * @param parameters what the user chose
     * @param tools what the build chose
     * @param inputs the files that were read
     * @param time the time that the statement gives; empty for none
     */
    public static Provenance of(
            List<Resource> files,
            String made,
            SortedMap<String, String> parameters,
            SortedMap<String, String> tools,
            List<Resource> inputs,
            Optional<Instant> time) {
        SortedMap<String, String> metadata = new TreeMap<>();
        time.ifPresent(at -> metadata.put("finishedOn", at.toString()));
        return new Provenance(
                STATEMENT,
                files,
                PREDICATE,
                new Predicate(
                        new Definition(KILN + made, parameters, tools, List.copyOf(inputs)),
                        new Run(new Builder(KILN + made), metadata)));
    }
}
