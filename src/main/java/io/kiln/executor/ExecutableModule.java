// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor;

import io.kiln.artifact.Artifact;
import io.kiln.codegen.CodeUnit;

/**
 * A module and what drives it.
 *
 * @param code all functions, for a code generator
 * @param entryPoint what programs call; linked before the code
 * @param header declares the entry point
 */
public record ExecutableModule(CodeUnit code, Artifact entryPoint, Artifact header) {}
