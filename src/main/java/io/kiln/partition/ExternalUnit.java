// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.util.List;

/**
 * All functions of a module for one code generator.
 *
 * @param model name of the model file, for the head of files
 * @param file name of its file without ending, such as {@code default_lib2}
 * @param functions the functions, in the order of their calls
 * @param external the code generator's part of the target
 * @param host the target of everything else
 */
public record ExternalUnit(
        String model, String file, List<ExternalFunction> functions, CompositeTarget.External external, Target host) {
    public ExternalUnit {
        functions = List.copyOf(functions);
    }
}
