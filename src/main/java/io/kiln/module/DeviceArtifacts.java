// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.artifact.Artifact;
import io.kiln.base.Failure;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Loads code for a device from three artifacts: {@code <name>.data}, the code; {@code <name>.fmt}, its format as text; {@code <name>.functions}, the
 * function table as a blob has it.
 */
public final class DeviceArtifacts implements ArtifactLoader {
    @Override
    public Set<String> names() {
        return BuiltInModules.DEVICES;
    }

    @Override
    public ModulePayload load(String name, List<Artifact> group) {
        Artifact table = only(name, group, ".functions");
        ModuleReader in = new ModuleReader(table.content(), table.fileName());
        Map<String, DeviceModule.FunctionInfo> functions = DeviceModule.readTable(in);
        if (in.remaining() > 0) {
            throw in.broken(in.remaining() + " bytes follow the table", in.position());
        }
        return new DeviceModule(
                only(name, group, ".fmt").text(),
                functions,
                only(name, group, ".data").content());
    }

    private static Artifact only(String loader, List<Artifact> group, String suffix) {
        List<Artifact> found =
                group.stream().filter(file -> file.fileName().endsWith(suffix)).toList();
        if (found.size() != 1 || group.size() != 3) {
            throw Failure.EXTENSION.exception(
                    "the loader `" + loader + "` was given "
                            + group.stream().map(Artifact::fileName).toList(),
                    "artifacts",
                    "one file each that ends in .data, .fmt and .functions");
        }
        return found.get(0);
    }
}
