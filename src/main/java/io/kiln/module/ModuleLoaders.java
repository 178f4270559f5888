// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;

/** Loaders by type key. */
public final class ModuleLoaders {
    private final Map<String, ModuleLoader> byKey = new TreeMap<>();

    private ModuleLoaders(Collection<ModuleLoader> loaders) {
        loaders.forEach(loader -> loader.typeKeys().forEach(key -> byKey.putIfAbsent(key, loader)));
    }

    /** Kiln's own loaders, and those that the class path has as services; Kiln's come first. */
    public static ModuleLoaders installed() {
        return new ModuleLoaders(ServiceLoader.load(ModuleLoader.class, ModuleLoader.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get)
                .sorted((a, b) -> Boolean.compare(b instanceof BuiltInModules, a instanceof BuiltInModules))
                .toList());
    }

    /** Some loaders; the first one of a key counts. */
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
