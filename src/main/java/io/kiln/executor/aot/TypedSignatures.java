// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.aot;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.InterfaceNames.Side;
import io.kiln.codegen.c.CSignature;
import io.kiln.executor.PlannedModule;
import java.util.ArrayList;
import java.util.List;

/** The functions of the typed interface, declared in the header and defined in the entry point. */
final class TypedSignatures {
    private TypedSignatures() {}

    /** {@code tvmgen_<name>_run}: takes the tensors, or the pool that contains them, and the devices if there are any. */
    static CSignature run(PlannedModule module) {
        InterfaceNames names = module.names();
        List<String> parameters = new ArrayList<>(
                module.isCallerOwned()
                        ? List.of(names.struct(Side.INPUTS) + "* inputs", names.struct(Side.OUTPUTS) + "* outputs")
                        : List.of(pools(names)));
        if (!module.devices().isEmpty()) {
            parameters.add(names.devicesStruct() + "* devices");
        }
        return CSignature.fallible(names.run(), parameters);
    }

    /** {@code tvmgen_<name>_map_inputs} or {@code _map_outputs}. */
    static CSignature map(PlannedModule module, Side side) {
        InterfaceNames names = module.names();
        return new CSignature(names.struct(side), names.map(side), List.of(pools(names)));
    }

    /** {@code tvmgen_<name>_reset}. */
    static CSignature reset(PlannedModule module) {
        return CSignature.fallible(module.names().reset(), List.of());
    }

    private static String pools(InterfaceNames names) {
        return names.poolsStruct() + "* workspace_pools";
    }
}
