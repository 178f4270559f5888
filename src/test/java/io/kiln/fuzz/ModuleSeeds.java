// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile.NdArrayFormat;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.module.BuiltInModules.ConstantsModule;
import io.kiln.module.BuiltInModules.GraphFactoryModule;
import io.kiln.module.BuiltInModules.SourceModule;
import io.kiln.module.DeviceModule;
import io.kiln.module.ModuleBlob;
import io.kiln.module.ModuleExport;
import io.kiln.module.ModulePayload;
import io.kiln.module.ModuleReader;
import io.kiln.module.ModuleTree.LinkedCode;
import io.kiln.module.ModuleTree.ModuleNode;
import io.kiln.module.SerializedArray;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Trees of modules of every kind. */
final class ModuleSeeds {
    private ModuleSeeds() {}

    static List<Bytes> all() {
        DeviceModule device = new DeviceModule(
                "ptx",
                Map.of("f", new DeviceModule.FunctionInfo("f", List.of(0x014003), List.of("blockIdx.x"))),
                Bytes.ofText("code"));
        SourceModule source = new SourceModule(Bytes.ofText("int x;"), "c", List.of("f"), List.of("v"));
        NamedTensor weights = new NamedTensor("w", DType.INT8, List.of(2, 3), Bytes.wrap(new byte[6]));
        SerializedArray array = SerializedArray.read(new ModuleReader(NdArrayFormat.encode(weights), "w"));
        List<SerializedArray> arrays = List.of(array);
        List<String> names = List.of("w");
        return Stream.of(
                        List.of(
                                node("llvm", new LinkedCode(List.of("f")), 1, 2),
                                node("cuda", device),
                                node("const_loader", new ConstantsModule(names, arrays, names, List.of(names)))),
                        List.of(
                                node(
                                        "GraphExecutorFactory",
                                        new GraphFactoryModule(source.code(), names, arrays, "m"),
                                        1),
                                node("c", source)),
                        List.of(node("llvm", new LinkedCode(List.of()))))
                .map(graph -> ModuleBlob.write(ModuleExport.tree(graph)))
                .toList();
    }

    private static ModuleNode node(String key, ModulePayload payload, Integer... imports) {
        return new ModuleNode(key, payload, List.of(imports));
    }
}
