// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The model formats and their readers: a name with the suffix {@code .relay} means Relay text, one with {@code .onnx}
 * ONNX, any other TensorFlow Lite.
 */
public final class Frontends {
    /** Suffixes of models that are looked for in a folder. */
    public static final List<String> SUFFIXES = List.of(".tflite", OnnxFrontend.SUFFIX, RelayFrontend.SUFFIX);

    private Frontends() {}

    /**
     * Reads a model.
     *
     * @param file the model; a text's parameters are read from a file beside it
     * @param name module name
     * @param shapes shapes that replace those of inputs in the file
     * @param customOperators operators computed by the user's C functions; Relay text names functions itself
     * @throws io.kiln.base.KilnException with all errors and unsupported operators of the model
     */
    public static Function read(Path file, String name, InputShapes shapes, CustomOperators customOperators) {
        if (RelayFrontend.accepts(file)) {
            return RelayFrontend.read(file, name, shapes);
        }
        return OnnxFrontend.accepts(file)
                ? OnnxFrontend.read(file, name, shapes)
                : TfliteFrontend.read(file, name, shapes, customOperators);
    }

    /** The second file of a model whose format has one; it need not exist. */
    public static Optional<Path> parameters(Path file) {
        return RelayFrontend.accepts(file) ? Optional.of(RelayFrontend.paramsOf(file)) : Optional.empty();
    }
}
