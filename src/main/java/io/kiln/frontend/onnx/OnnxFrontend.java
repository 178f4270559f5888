// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.ModelFile;
import io.kiln.frontend.onnx.model.OnnxModel;
import io.kiln.frontend.onnx.reader.Budget;
import io.kiln.frontend.onnx.reader.ModelReader;
import io.kiln.ir.Function;
import io.kiln.transform.FoldFactors;
import io.kiln.transform.layout.MoveTransposes;
import java.nio.file.Path;
import java.util.Optional;

/** Reads an {@code .onnx} file into the graph IR. The file is untrusted. */
public final class OnnxFrontend {
    /** Suffix of model files. */
    public static final String SUFFIX = ".onnx";

    /** Size limit; no microcontroller's memory holds a larger file. */
    public static final long MAX_FILE_BYTES = 32L << 20;

    private static final long MAX_CONSTANT_BYTES = 6 * MAX_FILE_BYTES;

    private OnnxFrontend() {}

    /** Whether a file is an ONNX model by its name. */
    public static boolean accepts(Path file) {
        return ModelFile.name(file).endsWith(SUFFIX);
    }

    /**
     * Reads a model file, and the files beside it that hold its data.
     *
     * @param file the model
     * @param moduleName name of the resulting function
     * @param inputShapes shapes of inputs by name
     * @throws KilnException with all errors and unsupported operators of the file, and shapes that do not fit
     */
    public static Function read(Path file, String moduleName, InputShapes inputShapes) {
        Bytes content = ModelFile.read(file, MAX_FILE_BYTES, "an .onnx file");
        Path folder = file.toAbsolutePath().getParent();
        return read(content, ModelFile.name(file), Optional.ofNullable(folder), moduleName, inputShapes);
    }

    /**
     * Reads a model from memory, without external data.
     *
     * @param content the model's bytes
     * @param fileName its name in messages and origins
     */
    public static Function read(Bytes content, String fileName, String moduleName, InputShapes inputShapes) {
        return read(content, fileName, Optional.empty(), moduleName, inputShapes);
    }

    /** Imports a model that was read, see {@link ModelReader}. */
    public static Function convert(OnnxModel model, String moduleName, InputShapes inputShapes) {
        return convert(model, moduleName, inputShapes, new Budget(model.file(), MAX_CONSTANT_BYTES));
    }

    private static Function read(
            Bytes content, String fileName, Optional<Path> folder, String moduleName, InputShapes inputShapes) {
        Budget budget = new Budget(fileName, MAX_CONSTANT_BYTES);
        return convert(ModelReader.read(content, fileName, folder, budget), moduleName, inputShapes, budget);
    }

    private static Function convert(OnnxModel model, String moduleName, InputShapes inputShapes, Budget budget) {
        Function imported = new ModelImporter(model, budget).read(moduleName, inputShapes);
        return FoldFactors.run(new MoveTransposes().run(imported));
    }
}
