// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The four steps of loading artifacts as a value. On a computer they happen when a library is loaded; on a microcontroller loading is linking, and the
 * firmware build follows the same plan: artifacts are divided by loader; first comes the metadata, then the native code, then all other groups in
 * the order of their loaders' names.
 *
 * @param groups in the order of the steps
 */
public record LinkPlan(List<Group> groups) {
    private static final String METADATA = "metadata";

    public LinkPlan {
        groups = List.copyOf(groups);
    }

    /** What the firmware build does with an artifact. */
    public enum Action {
        /** Sources are compiled and linked with the host core. */
        COMPILED,
        /** Headers are on the path of sources. */
        INCLUDED,
        /** Objects are linked with the host core. */
        LINKED,
        /** The build makes C of it, which is compiled. */
        EMBEDDED,
        /** Payloads lie beside the sources, for programs that embed or send them. */
        COPIED,
        /** Relay text, parameters and graphs stay in the archive. */
        LEFT_OUT;

        /** The action in reports. */
        public String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * Artifacts of one loader and target with which the same is done.
     *
     * @param loader their loader
     * @param targetKey their target
     * @param action what is done, such as {@code compiled}
     * @param files how many
     * @param bytes their size
     */
    public record Group(String loader, String targetKey, String action, int files, long bytes) {
        private Group with(Artifact artifact) {
            return new Group(
                    loader,
                    targetKey,
                    action,
                    files + 1,
                    bytes + artifact.content().size());
        }
    }

    /** What is done with artifacts of a kind. */
    public static Action action(ArtifactKind kind) {
        return switch (kind) {
            case SOURCE -> Action.COMPILED;
            case HEADER -> Action.INCLUDED;
            case OBJECT -> Action.LINKED;
            case GRAPH, PARAMETERS -> Action.EMBEDDED;
            case PAYLOAD -> Action.COPIED;
            case RUNTIME, RELAY, TEMPLATE -> Action.LEFT_OUT;
        };
    }

    /** The plan of some sets, which make one image. */
    public static LinkPlan of(Collection<ArtifactSet> sets) {
        SortedMap<String, Group> groups = new TreeMap<>();
        for (ArtifactSet set : sets) {
            for (Artifact artifact : set.artifacts()) {
                Action action = action(artifact.kind());
                String key = String.join(" ", step(artifact), artifact.loader(), artifact.targetKey(), action.text());
                Group group = groups.getOrDefault(
                        key, new Group(artifact.loader(), artifact.targetKey(), action.text(), 0, 0));
                groups.put(key, group.with(artifact));
            }
        }
        return new LinkPlan(new ArrayList<>(groups.values()));
    }

    private static String step(Artifact artifact) {
        return artifact.loader().equals(METADATA) ? "1" : artifact.kind().isNative() ? "2" : "3";
    }
}
