// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.base.Extensions;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.module.ModuleTree.ModuleNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Finds the loader of a payload by its name, and makes modules of artifacts with it. */
public final class ArtifactLoaders {
    private final Map<String, ArtifactLoader> byName = new TreeMap<>();

    private ArtifactLoaders(Collection<ArtifactLoader> loaders) {
        loaders.forEach(loader -> Extensions.call(
                        loader::names,
                        why -> Failure.EXTENSION.exception(
                                "it could not state its names: " + why,
                                "loader of artifacts " + Extensions.name(loader)))
                .forEach(name -> byName.putIfAbsent(name, loader)));
    }

    /** Kiln's own loaders, and those that the class path has as services; Kiln's come first. */
    public static ArtifactLoaders installed() {
        return installed(ArtifactLoader.class.getClassLoader());
    }

    /** As {@link #installed()}, with services that another class loader finds. */
    static ArtifactLoaders installed(ClassLoader from) {
        return new ArtifactLoaders(Extensions.services(
                        ArtifactLoader.class,
                        io.kiln.spi.ArtifactLoader.class,
                        PromisedModules.Artifacts::new,
                        "loader of artifacts",
                        from)
                .stream()
                .sorted((a, b) -> Boolean.compare(b instanceof DeviceArtifacts, a instanceof DeviceArtifacts))
                .toList());
    }

    /** Only these loaders; of several with one name the first is used. */
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
        Problems problems = new Problems(Failure.EXTENSION);
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
                ModulePayload payload = Extensions.call(
                        () -> loader.load(name, group),
                        why -> Failure.EXTENSION.exception(
                                "the loader `" + name + "`, " + Extensions.name(loader) + ", failed: " + why,
                                group.get(0).fileName()));
                modules.add(new ModuleNode(name, payload, List.of()));
            } catch (KilnException e) {
                e.problems().forEach(problems::add);
            }
        });
        problems.throwIfAny();
        return modules;
    }
}
