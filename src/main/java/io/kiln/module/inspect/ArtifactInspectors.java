// SPDX-License-Identifier: Apache-2.0
package io.kiln.module.inspect;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.PromisedForms;
import io.kiln.base.Extensions;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;

/** Finds inspectors by name, and runs them on the artifacts that they accept. Several may have one name, for different artifacts. */
public final class ArtifactInspectors {
    /** Asks for a list of the inspectors. */
    public static final String LIST = "?";

    private final List<ArtifactInspector> inspectors;

    private ArtifactInspectors(List<ArtifactInspector> inspectors) {
        this.inspectors = inspectors.stream()
                .<ArtifactInspector>map(GuardedInspector::new)
                .toList();
    }

    /** Inspectors of plain data, and those that the class path has as services. */
    public static ArtifactInspectors installed() {
        return installed(List.of());
    }

    /**
     * As {@link #installed()}, with others.
     *
     * @param more those that need other programs
     */
    public static ArtifactInspectors installed(List<ArtifactInspector> more) {
        List<ArtifactInspector> all = new ArrayList<>(BuiltInInspectors.all());
        all.addAll(more);
        all.addAll(Extensions.services(
                ArtifactInspector.class,
                io.kiln.spi.ArtifactInspector.class,
                PromisedInspector::new,
                "inspector",
                ArtifactInspector.class.getClassLoader()));
        return new ArtifactInspectors(all);
    }

    /** Only these inspectors. */
    public static ArtifactInspectors of(List<ArtifactInspector> inspectors) {
        return new ArtifactInspectors(inspectors);
    }

    /** Names of the inspectors that accept an artifact, those that say most first. */
    public List<String> names(Artifact artifact) {
        return inspectors.stream()
                .filter(inspector -> inspector.accepts(artifact))
                .map(ArtifactInspector::name)
                .distinct()
                .toList();
    }

    /**
     * The output of an inspector.
     *
     * @param name its name, or {@link #LIST}
     * @throws KilnException if there is none of that name, or it accepts no artifact, or artifacts are damaged
     */
    public List<String> lines(Collection<Artifact> artifacts, String name) {
        if (name.equals(LIST)) {
            List<String> known = list(artifacts);
            return known.isEmpty() ? List.of("no inspector knows these artifacts") : known;
        }
        TreeSet<String> names = new TreeSet<>();
        inspectors.forEach(inspector -> names.add(inspector.name()));
        if (!names.contains(name)) {
            throw new KilnException(Failure.CONFIG.problem(
                    "there is no inspector `" + name + "`",
                    "kiln.inspector",
                    "one of " + String.join(", ", names),
                    NearMiss.didYouMean(name, names)));
        }
        List<String> lines = new ArrayList<>();
        inspectors.stream()
                .filter(inspector -> inspector.name().equals(name))
                .forEach(inspector -> groups(inspector, artifacts).forEach((title, group) -> {
                    lines.add(title);
                    List<String> said = inspector.inspect(group);
                    (said.isEmpty() ? List.of("nothing") : said).forEach(line -> lines.add("  " + line));
                }));
        if (lines.isEmpty()) {
            throw new KilnException(Failure.CONFIG.problem(
                    "the inspector `" + name + "` says nothing of these artifacts",
                    "kiln.inspector",
                    "",
                    "Set kiln.inspector to ? for those that do"));
        }
        return lines;
    }

    private static Map<String, List<Artifact>> groups(ArtifactInspector inspector, Collection<Artifact> artifacts) {
        Map<String, List<Artifact>> groups = new LinkedHashMap<>();
        for (Artifact artifact : artifacts) {
            if (inspector.accepts(artifact)) {
                String title = switch (inspector.scope()) {
                    case ARTIFACT -> artifact.targetKey() + "/" + artifact.loader() + "/" + artifact.fileName();
                    case CODEGEN -> "code generator " + artifact.codegenId();
                    case LOADER -> "loader " + artifact.loader();
                };
                groups.computeIfAbsent(title, key -> new ArrayList<>()).add(artifact);
            }
        }
        return groups;
    }

    private List<String> list(Collection<Artifact> artifacts) {
        return inspectors.stream()
                .filter(inspector -> artifacts.stream().anyMatch(inspector::accepts))
                .map(inspector ->
                        inspector.name() + " (" + inspector.scope().name().toLowerCase(Locale.ROOT) + ")")
                .distinct()
                .sorted()
                .toList();
    }

    /**
     * An inspector that implements the interface that lasts.
     *
     * @param service what others wrote
     */
    private record PromisedInspector(io.kiln.spi.ArtifactInspector service)
            implements ArtifactInspector, Extensions.Adapter {
        @Override
        public String name() {
            return service.name();
        }

        @Override
        public Scope scope() {
            return Scope.valueOf(service.scope().name());
        }

        @Override
        public boolean accepts(Artifact artifact) {
            return service.accepts(PromisedForms.of(artifact));
        }

        @Override
        public List<String> inspect(List<Artifact> artifacts) {
            return service.inspect(PromisedForms.of(artifacts));
        }
    }

    /**
     * An inspector that may be foreign code: an exception of it becomes a message that names it.
     *
     * @param inspector the inspector itself
     */
    private record GuardedInspector(ArtifactInspector inspector) implements ArtifactInspector {
        @Override
        public String name() {
            return guarded("state its name", inspector::name);
        }

        @Override
        public Scope scope() {
            return guarded("state its scope", inspector::scope);
        }

        @Override
        public boolean accepts(Artifact artifact) {
            return guarded("say whether it accepts " + artifact.fileName(), () -> inspector.accepts(artifact));
        }

        @Override
        public List<String> inspect(List<Artifact> artifacts) {
            return guarded(
                    "inspect "
                            + String.join(
                                    ", ",
                                    artifacts.stream().map(Artifact::fileName).toList()),
                    () -> List.copyOf(inspector.inspect(artifacts)));
        }

        private <T> T guarded(String what, Supplier<T> call) {
            return Extensions.call(
                    call,
                    why -> new KilnException(Failure.EXTENSION.problem(
                            "it could not " + what + ": " + why, "inspector " + Extensions.name(inspector))));
        }
    }
}
