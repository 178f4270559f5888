// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata.Storage;
import io.kiln.codegen.CodeUnit;
import java.util.List;

/**
 * A module with the code that runs it.
 *
 * @param code all functions, for a code generator
 * @param entryPoint what programs call; linked before the code
 * @param description what tells programs of the model: the header of the typed interface, the metadata of the packed one, or a graph with its
 *     parameters
 * @param functions names of the functions with the packed signature, in the order of a system library
 * @param storages blocks of memory that the graph executor takes
 */
public record ExecutableModule(
        CodeUnit code,
        Artifact entryPoint,
        List<Artifact> description,
        List<String> functions,
        List<Storage> storages) {
    public ExecutableModule {
        description = List.copyOf(description);
        functions = List.copyOf(functions);
        storages = List.copyOf(storages);
    }

    public ExecutableModule with(CodeUnit newCode) {
        return new ExecutableModule(newCode, entryPoint, description, functions, storages);
    }

    /** A module whose memory is planned ahead of time. */
    public ExecutableModule(CodeUnit code, Artifact entryPoint, List<Artifact> description, List<String> functions) {
        this(code, entryPoint, description, functions, List.of());
    }

    /** Adds to a planned module the code that calls its operators in order, and the interface by which programs run it. */
    public interface Executor {
        /** The module with its entry point. */
        ExecutableModule drive(PlannedModule module);
    }
}
