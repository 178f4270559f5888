// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Loaders of payloads by name. */
public final class ArtifactLoaders {
    private final Map<String, ArtifactLoader> byName = new TreeMap<>();

    private ArtifactLoaders(Collection<ArtifactLoader> loaders) {
        loaders.forEach(loader -> loader.names().forEach(name -> byName.putIfAbsent(name, loader)));
    }

    /** Kiln's own loaders, and those that the class path has as services; Kiln's come first. */
    public static ArtifactLoaders installed() {
        return new ArtifactLoaders(
                ServiceLoader.load(ArtifactLoader.class, ArtifactLoader.class.getClassLoader()).stream()
                        .map(ServiceLoader.Provider::get)
                        .sorted((a, b) -> Boolean.compare(b instanceof DeviceArtifacts, a instanceof DeviceArtifacts))
                        .toList());
    }

    /** Some loaders; the first one of a name counts. */
    public static ArtifactLoaders of(List<ArtifactLoader> loaders) {
        return new ArtifactLoaders(loaders);
    }

    /**
     * Loads the payloads of a set, in the order of their loaders' names: one module for each loader, without imports.
     *
     * @throws KilnException naming every loader that is missing or fails
     */
    public List<ModuleNode> load(ArtifactSet set) {
        Map<String, List<Artifact>> groups = set.of(ArtifactKind.PAYLOAD).stream()
                .collect(Collectors.groupingBy(Artifact::loader, TreeMap::new, Collectors.toList()));
        Problems problems = new Problems();
        List<ModuleNode> modules = new ArrayList<>();
        groups.forEach((name, group) -> {
            ArtifactLoader loader = byName.get(name);
            if (loader == null) {
                problems.add(
                        "artifacts of loader \"" + name + "\" cannot be loaded: no such loader; there are "
                                + String.join(", ", byName.keySet()),
                        group.get(0).fileName() + " of code generator `"
                                + group.get(0).codegenId() + "`",
                        "",
                        "Add the dependency that brings it to the plugin");
                return;
            }
            try {
                modules.add(new ModuleNode(name, loader.load(name, group), List.of()));
            } catch (KilnException e) {
                e.problems().forEach(problems::add);
            } catch (RuntimeException e) {
                problems.add(
                        "the loader `" + name + "`, " + loader.getClass().getName() + ", failed: " + e,
                        group.get(0).fileName(),
                        "",
                        "");
            }
        });
        problems.throwIfAny();
        return modules;
    }
}
