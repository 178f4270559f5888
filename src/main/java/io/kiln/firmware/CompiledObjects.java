// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The objects of a project.
 *
 * @param files absolute paths by the source's path
 * @param rebuilt paths of the sources compiled by this build
 */
public record CompiledObjects(FirmwareProject project, Map<String, Path> files, List<String> rebuilt) {
    public CompiledObjects {
        files = Map.copyOf(files);
        rebuilt = List.copyOf(rebuilt);
    }

    public List<Path> inLinkOrder() {
        return project.units().stream().map(unit -> files.get(unit.path())).toList();
    }
}
