// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The formats of models, and who reads them: a name that ends in {@code .relay} means Relay text, any other TensorFlow Lite. */
public final class Frontends {
    /** The endings by which models are found in a folder. */
    public static final List<String> SUFFIXES = List.of(".tflite", RelayFrontend.SUFFIX);

    private Frontends() {}

    /**
     * Reads a model.
     *
     * @param file the model; a text's parameters are looked for beside it
     * @param name module name
     * @param shapes in place of the inputs' shapes in the file
     * @param customOperators what C functions of the user's compute; Relay text names functions itself
     * @throws io.kiln.base.KilnException with everything that is wrong with the model or not supported
     */
    public static Function read(Path file, String name, InputShapes shapes, CustomOperators customOperators) {
        if (!RelayFrontend.accepts(file)) {
            return TfliteFrontend.read(file, name, shapes, customOperators);
        }
        return RelayFrontend.read(file, name, shapes);
    }

    /** The second file of a model whose format has one; it need not exist. */
    public static Optional<Path> parameters(Path file) {
        return RelayFrontend.accepts(file) ? Optional.of(RelayFrontend.paramsOf(file)) : Optional.empty();
    }
}
