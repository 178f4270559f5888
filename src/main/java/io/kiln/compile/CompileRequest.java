// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Optimize;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.transform.PassOptions;
import java.nio.file.Path;

/**
 * What is to be compiled.
 *
 * @param model the model file
 * @param name module name
 * @param target target string
 * @param io who owns inputs and outputs
 * @param optimize what to favour
 * @param passes what to change about the passes
 * @param inputShapes shapes of inputs in place of the file's
 * @param customOperators operators that C functions of the user's compute
 * @param slim whether the archive goes without the constants' data, which the C has anyway
 */
public record CompileRequest(
        Path model,
        String name,
        String target,
        Io io,
        Optimize optimize,
        PassOptions passes,
        InputShapes inputShapes,
        CustomOperators customOperators,
        boolean slim) {
    /** A request for an archive with all its data. */
    public CompileRequest(
            Path model,
            String name,
            String target,
            Io io,
            Optimize optimize,
            PassOptions passes,
            InputShapes inputShapes,
            CustomOperators customOperators) {
        this(model, name, target, io, optimize, passes, inputShapes, customOperators, false);
    }

    /** A request without functions of the user's. */
    public CompileRequest(
            Path model,
            String name,
            String target,
            Io io,
            Optimize optimize,
            PassOptions passes,
            InputShapes inputShapes) {
        this(model, name, target, io, optimize, passes, inputShapes, CustomOperators.NONE);
    }

    /** A request that changes neither passes nor shapes. */
    public CompileRequest(Path model, String name, String target, Io io, Optimize optimize) {
        this(model, name, target, io, optimize, PassOptions.DEFAULT, InputShapes.NONE);
    }
}
