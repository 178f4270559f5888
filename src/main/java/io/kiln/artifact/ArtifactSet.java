// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The files of a model library, sorted by target key, loader, code generator and file name. Sets with the same content are equal, in whatever
 * order they were given.
 *
 * @param artifacts the files; a name is unique within a target key and code generator
 * @param targets target strings by key, with every key of an artifact; {@link Artifact#HOST} may be missing, for a library whose metadata
 *     names its only target. They are texts, because archives name targets that Kiln has no code generator for.
 */
public record ArtifactSet(List<Artifact> artifacts, SortedMap<String, String> targets) {
    private static final Comparator<Artifact> ORDER = Comparator.comparing(Artifact::targetKey)
            .thenComparing(Artifact::loader)
            .thenComparing(Artifact::codegenId)
            .thenComparing(Artifact::fileName);

    /**
     * Sorts the files and checks that they fit together.
     *
     * @throws KilnException with all names that occur twice and all keys without a target
     */
    public ArtifactSet {
        artifacts = artifacts.stream().sorted(ORDER).toList();
        targets = Collections.unmodifiableSortedMap(new TreeMap<>(targets));
        Problems problems = new Problems(Failure.ARCHIVE);
        targets.keySet().forEach(key -> Artifact.check(key, "target key", "targets", problems));
        Set<List<String>> names = new HashSet<>();
        Set<String> unknown = new HashSet<>();
        for (Artifact artifact : artifacts) {
            String key = artifact.targetKey();
            if (!names.add(List.of(key, artifact.codegenId(), artifact.fileName()))) {
                problems.add(
                        "two artifacts of target key `" + key + "` have this name", where(artifact), "a name for each");
            }
            if (!key.equals(Artifact.HOST) && !targets.containsKey(key) && unknown.add(key)) {
                problems.add(
                        "its target key `" + key + "` is not among the targets",
                        where(artifact),
                        "one of " + String.join(", ", targets.keySet()));
            }
        }
        problems.throwIfAny();
    }

    private static String where(Artifact artifact) {
        return "artifact `" + artifact.fileName() + "` of code generator `" + artifact.codegenId() + "`";
    }

    /** Files whose only target is named by the library's metadata. */
    public ArtifactSet(List<Artifact> artifacts) {
        this(artifacts, new TreeMap<>());
    }

    /**
     * What code generators returned, as a set that can be written.
     *
     * @throws KilnException naming every output that exists only in this process
     */
    public static ArtifactSet of(Collection<? extends BuildOutput> outputs, Map<String, String> targets) {
        Problems problems = new Problems(Failure.ARCHIVE);
        List<Artifact> artifacts = new ArrayList<>();
        for (BuildOutput output : outputs) {
            if (output instanceof Artifact artifact) {
                artifacts.add(artifact);
            } else {
                problems.add(Failure.ARCHIVE.problem(
                        "`" + output.fileName() + "` of code generator `" + output.codegenId()
                                + "` exists only in this process",
                        "export",
                        "artifacts that are files",
                        "Load the build's result in this process, or have the code generator return files"));
            }
        }
        problems.throwIfAny();
        return new ArtifactSet(artifacts, new TreeMap<>(targets));
    }

    /**
     * The set as bytes: the magic {@code KILNSET1}, targets, artifacts, a checksum. Equal sets give the same bytes.
     *
     * @throws KilnException if there are more than 1024 artifacts or 256 targets
     */
    public Bytes export() {
        return ArtifactBlob.export(this);
    }

    /**
     * Reads what {@link #export} wrote. Files in another order are refused.
     *
     * @param name the file's name, for messages
     * @throws KilnException with the offset of what is wrong
     */
    public static ArtifactSet load(Bytes blob, String name) {
        return ArtifactBlob.loadSet(blob, name);
    }

    /** The artifacts of one kind, in order. */
    public List<Artifact> of(ArtifactKind kind) {
        return artifacts.stream().filter(a -> a.kind() == kind).toList();
    }

    /** Other files for the same targets. */
    public ArtifactSet with(List<Artifact> others) {
        return new ArtifactSet(others, targets);
    }

    /** Whether there is more than one target. */
    public boolean hasSeveralTargets() {
        return targets.size() > 1;
    }
}
