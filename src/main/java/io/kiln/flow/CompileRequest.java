// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Optimize;
import java.nio.file.Path;

/**
 * What is to be compiled.
 *
 * @param model the model file
 * @param name module name
 * @param target target string
 * @param io who owns inputs and outputs
 * @param optimize what to favour
 */
public record CompileRequest(Path model, String name, String target, Io io, Optimize optimize) {}
