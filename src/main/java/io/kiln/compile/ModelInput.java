// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.ModelIdentity;
import io.kiln.frontend.InputShapes;
import java.nio.file.Path;

/**
 * A model to compile.
 *
 * @param file the model file
 * @param name module name; {@code default} is microTVM's
 * @param identity what the image states about the model file
 * @param shapes shapes of inputs that replace the file's
 */
public record ModelInput(Path file, String name, ModelIdentity identity, InputShapes shapes) {
    /** A model with the shapes of its file, about which the image states nothing. */
    public ModelInput(Path file, String name) {
        this(file, name, ModelIdentity.UNKNOWN, InputShapes.NONE);
    }
}
