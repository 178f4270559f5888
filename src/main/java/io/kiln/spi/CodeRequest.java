// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.util.List;

/** All functions of a model that one code generator has to define. */
public interface CodeRequest {
    /**
     * Name of the model's file, for comments.
     *
     * @return the name without folders
     */
    String model();

    /**
     * Name for the generated files, without ending.
     *
     * @return such as {@code gesture_lib2}
     */
    String file();

    /**
     * The functions.
     *
     * @return in the order of their calls
     */
    List<RequestedFunction> functions();

    /**
     * The code generator's part of the target.
     *
     * @return name and options
     */
    TargetPart target();
}
