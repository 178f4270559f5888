// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor;

import io.kiln.artifact.Convention;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.target.MemoryPool;
import java.util.List;

/**
 * How programs call a compiled module.
 *
 * @param names of its functions, structs and macros
 * @param convention how tensors are handed over
 * @param io who owns inputs and outputs
 * @param pool what the workspace lies in
 * @param inputs described, in model order
 * @param outputs described, in model order
 */
public record ModuleInterface(
        InterfaceNames names,
        Convention convention,
        Io io,
        MemoryPool pool,
        List<TensorInfo> inputs,
        List<TensorInfo> outputs) {
    public ModuleInterface {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }
}
