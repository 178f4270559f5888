// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.PromisedForms;
import io.kiln.base.Bytes;
import io.kiln.base.Extensions;
import io.kiln.spi.ModuleContent;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Loaders that implement the interface that lasts. */
final class PromisedModules {
    private PromisedModules() {}

    /**
     * A loader of modules.
     *
     * @param service what others wrote
     */
    record Loader(io.kiln.spi.ModuleLoader service) implements ModuleLoader, Extensions.Adapter {
        @Override
        public Set<String> typeKeys() {
            return service.typeKeys();
        }

        @Override
        public ModulePayload load(String typeKey, ModuleReader in) {
            return new Payload(service.load(typeKey, in));
        }
    }

    /**
     * A loader of artifacts.
     *
     * @param service what others wrote
     */
    record Artifacts(io.kiln.spi.ArtifactLoader service) implements ArtifactLoader, Extensions.Adapter {
        @Override
        public Set<String> names() {
            return service.names();
        }

        @Override
        public ModulePayload load(String name, List<Artifact> group) {
            return new Payload(service.load(name, PromisedForms.of(group)));
        }
    }

    private record Payload(ModuleContent content) implements ModulePayload {
        Payload {
            if (content == null) {
                throw new IllegalArgumentException("it answered null");
            }
        }

        @Override
        public void write(ModuleWriter out) {
            content.write(out);
        }

        @Override
        public List<String> functions() {
            return content.functions();
        }

        @Override
        public Map<String, Bytes> files() {
            Map<String, Bytes> files = new TreeMap<>();
            content.files().forEach((name, file) -> files.put(name, PromisedForms.bytes(file)));
            return files;
        }

        @Override
        public List<String> details() {
            return content.details();
        }
    }
}
