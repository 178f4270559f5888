// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor;

import io.kiln.artifact.Artifact;
import io.kiln.codegen.CodeUnit;
import java.util.List;

/**
 * A module with the code that runs it.
 *
 * @param code all functions, for a code generator
 * @param entryPoint what programs call; linked before the code
 * @param description tells programs of the entry point: the header of the typed interface, or the metadata of the packed one
 * @param functions names of the functions with the packed signature, in the order of a system library
 */
public record ExecutableModule(CodeUnit code, Artifact entryPoint, Artifact description, List<String> functions) {
    public ExecutableModule {
        functions = List.copyOf(functions);
    }
}
