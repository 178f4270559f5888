// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Extensions;
import io.kiln.base.Failure;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Finds the loader of a module's payload by the module's type key. */
public final class ModuleLoaders {
    private final Map<String, ModuleLoader> byKey = new TreeMap<>();

    private ModuleLoaders(Collection<ModuleLoader> loaders) {
        loaders.forEach(loader -> Extensions.call(
                        loader::typeKeys,
                        why -> Failure.EXTENSION.exception(
                                "it could not state its type keys: " + why,
                                "loader of modules " + Extensions.name(loader)))
                .forEach(key -> byKey.putIfAbsent(key, loader)));
    }

    /** Kiln's own loaders, and those that the class path has as services; Kiln's come first. */
    public static ModuleLoaders installed() {
        return installed(ModuleLoader.class.getClassLoader());
    }

    /** As {@link #installed()}, with services that another class loader finds. */
    static ModuleLoaders installed(ClassLoader from) {
        return new ModuleLoaders(Extensions.services(
                        ModuleLoader.class,
                        io.kiln.spi.ModuleLoader.class,
                        PromisedModules.Loader::new,
                        "loader of modules",
                        from)
                .stream()
                .sorted((a, b) -> Boolean.compare(b instanceof BuiltInModules, a instanceof BuiltInModules))
                .toList());
    }

    /** Only these loaders; of several with one key the first is used. */
    public static ModuleLoaders of(List<ModuleLoader> loaders) {
        return new ModuleLoaders(loaders);
    }

    /** The type keys that can be read, sorted. */
    public Set<String> typeKeys() {
        return byKey.keySet();
    }

    Optional<ModuleLoader> find(String typeKey) {
        return Optional.ofNullable(byKey.get(typeKey));
    }
}
