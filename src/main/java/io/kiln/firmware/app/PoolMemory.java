// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.ExternalPool;
import io.kiln.artifact.ModelMetadata.ExternalPool.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The memory of pools that models expect from their caller.
 *
 * <p>Models share a workspace pool of one name, because only one of them runs at a time. Constants have initial values,
 * so each model has its own.
 */
final class PoolMemory {
    private static final int ALIGNMENT = 16;

    private PoolMemory() {}

    /** C definitions of all pools. */
    static List<String> definitions(List<ModelMetadata> models) {
        List<String> lines = new ArrayList<>();
        Map<String, Long> workspaces = new TreeMap<>();
        for (ModelMetadata model : models) {
            of(model, Kind.WORKSPACE).forEach(pool -> workspaces.merge(pool.name(), pool.bytes(), Math::max));
        }
        int alignment = models.stream()
                .filter(model -> !of(model, Kind.WORKSPACE).isEmpty())
                .mapToInt(ModelMetadata::workspaceAlignment)
                .reduce(ALIGNMENT, Math::max);
        workspaces.forEach((pool, bytes) -> lines.addAll(List.of(
                "/* Workspace of the model that runs. */",
                placed(InterfaceNames.workspaceSection(pool), alignment) + " static uint8_t " + workspace(pool) + "["
                        + Math.max(1, bytes) + "];",
                "")));
        models.forEach(model -> of(model, Kind.CONSTANTS).forEach(pool -> lines.addAll(constantPool(model, pool))));
        return lines;
    }

    private static List<String> constantPool(ModelMetadata model, ExternalPool pool) {
        InterfaceNames names = new InterfaceNames(model.name());
        return List.of(
                "/* Constants of " + model.name() + ". */",
                placed(InterfaceNames.constantsSection(pool.name()), ALIGNMENT) + " static const uint8_t "
                        + constants(model, pool) + "[" + names.constantPoolSize(pool.name()) + "] = {",
                "    " + names.constantPoolData(pool.name()) + "};",
                "");
    }

    /** Whether the functions of a model take pools. */
    static boolean isNeeded(ModelMetadata model) {
        return !model.memory().pools().isEmpty();
    }

    /** The definition of the struct that a model's functions take. */
    static String struct(ModelMetadata model) {
        String members = model.memory().pools().stream()
                .map(pool ->
                        pool.kind() == Kind.WORKSPACE ? workspace(pool.name()) : "(void*)" + constants(model, pool))
                .collect(Collectors.joining(", "));
        return "  " + new InterfaceNames(model.name()).poolsStruct() + " pools = {" + members + "};";
    }

    private static List<ExternalPool> of(ModelMetadata model, Kind kind) {
        return model.memory().pools().stream()
                .filter(pool -> pool.kind() == kind)
                .toList();
    }

    private static String placed(String section, int alignment) {
        return "__attribute__((section(\"" + section + "\"), aligned(" + alignment + ")))";
    }

    private static String workspace(String pool) {
        return "kiln_app_workspace_" + pool;
    }

    private static String constants(ModelMetadata model, ExternalPool pool) {
        return "constants_" + model.name() + "_" + pool.name();
    }
}
