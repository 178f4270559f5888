// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor;

import io.kiln.artifact.Artifact;
import io.kiln.codegen.CodeUnit;

/**
 * A module with the code that runs it.
 *
 * @param code all functions, for a code generator
 * @param entryPoint the functions that programs call; linked before the code
 * @param header declares the entry point
 */
public record ExecutableModule(CodeUnit code, Artifact entryPoint, Artifact header) {}
