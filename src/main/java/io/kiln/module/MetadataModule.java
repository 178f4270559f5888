// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import java.util.List;

/** Tells what a model of TVM's C++ runtime takes and returns: {@code metadata_module}. It has no payload; the library holds the metadata. */
public record MetadataModule() implements ModulePayload {
    @Override
    public void write(ModuleWriter out) {
        // The library has the metadata, as the function get_c_metadata.
    }

    @Override
    public List<String> functions() {
        return List.of("get_metadata");
    }
}
