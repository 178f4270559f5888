// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.base.Failure;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.ReadLimits;
import io.kiln.frontend.ReadModel;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import java.nio.file.Path;
import java.util.List;

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
     * @param options how it is read
     * @throws io.kiln.base.KilnException with all errors and unsupported operators of the model
     */
    public static Function read(Path file, String name, InputShapes shapes, ReadOptions options) {
        return model(file, name, shapes, options).function();
    }

    /** Reads a model, and tells what its file states wrongly about it. */
    static ReadModel model(Path file, String name, InputShapes shapes, ReadOptions options) {
        ReadModel read = stateless(file, name, shapes, options);
        Function function = shapes.values().withState(read.function(), String.valueOf(file.getFileName()));
        return new ReadModel(function, read.warnings());
    }

    private static ReadModel stateless(Path file, String name, InputShapes shapes, ReadOptions options) {
        boolean isTflite = !OnnxFrontend.accepts(file) && !RelayFrontend.accepts(file);
        if (!isTflite && !shapes.signature().isEmpty()) {
            throw Failure.CONFIG.exception(
                    "kiln.signature is given for a model that is not of TensorFlow Lite",
                    file.toString(),
                    "a .tflite file",
                    "Remove kiln.signature");
        }
        if (OnnxFrontend.accepts(file)) {
            return OnnxFrontend.model(file, name, shapes, options.onnxIo(), options.limits());
        }
        if (!shapes.values().byName().isEmpty()) {
            throw Failure.CONFIG.exception(
                    "kiln.inputValues gives numbers for a model that is not ONNX",
                    file.toString(),
                    "an .onnx file; previous(output) is for all",
                    "Remove kiln.inputValues");
        }
        return new ReadModel(
                RelayFrontend.accepts(file)
                        ? RelayFrontend.read(file, name, shapes, options.limits())
                        : TfliteFrontend.read(
                                file, name, shapes, options.customOperators(), options.rounding(), options.limits()),
                List.of());
    }

    /** The files beside a model that hold its constants; they need not exist. */
    public static List<Path> parameters(Path file, ReadLimits limits) {
        if (OnnxFrontend.accepts(file)) {
            return OnnxFrontend.externalFiles(file, limits);
        }
        return RelayFrontend.accepts(file)
                ? List.of(RelayFrontend.paramsOf(file))
                : TfliteFrontend.externalFiles(file, limits);
    }
}
