// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.ModelFile;
import io.kiln.frontend.onnx.model.OnnxModel;
import io.kiln.frontend.onnx.reader.ModelReader;
import io.kiln.frontend.onnx.reader.ReadBudget;
import io.kiln.ir.Function;
import io.kiln.transform.FoldChannelFactors;
import io.kiln.transform.layout.MoveTransposes;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Reads an {@code .onnx} file into the graph IR. The file is untrusted. */
public final class OnnxFrontend {
    /** Suffix of model files. */
    public static final String SUFFIX = ".onnx";

    /**
     * Size limit. A float model is four times as large as the int8 model that the build makes of it, so that the int8 model has at most the 32 MiB
     * that the other readers take. Reading a model takes a small multiple of its size in memory. Protobuf itself reads files below 2 GiB.
     */
    public static final long MAX_FILE_BYTES = 128L << 20;

    /**
     * Limit of all constants as they are held in memory, those of other files and those that are computed while the model is read included:
     * halves become floats, and layouts change.
     */
    private static final long MAX_CONSTANT_BYTES = 512L << 20;

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
        return read(file, moduleName, inputShapes, OnnxIo.MODEL);
    }

    /**
     * Reads a model file, with another layout at its border.
     *
     * @param io layout of the images that the function takes and gives
     */
    public static Function read(Path file, String moduleName, InputShapes inputShapes, OnnxIo io) {
        Bytes content = ModelFile.read(file, MAX_FILE_BYTES, "an .onnx file");
        Path folder = file.toAbsolutePath().getParent();
        ReadBudget budget = new ReadBudget(ModelFile.name(file), MAX_CONSTANT_BYTES);
        OnnxModel model = ModelReader.read(content, ModelFile.name(file), Optional.ofNullable(folder), budget);
        return convert(model, moduleName, inputShapes, io, budget);
    }

    /**
     * Reads a model from memory, without external data.
     *
     * @param content the model's bytes
     * @param fileName its name in messages and origins
     */
    public static Function read(Bytes content, String fileName, String moduleName, InputShapes inputShapes) {
        ReadBudget budget = new ReadBudget(fileName, MAX_CONSTANT_BYTES);
        OnnxModel model = ModelReader.read(content, fileName, Optional.empty(), budget);
        return convert(model, moduleName, inputShapes, OnnxIo.MODEL, budget);
    }

    /** Imports a model that was read, see {@link ModelReader}. */
    public static Function convert(OnnxModel model, String moduleName, InputShapes inputShapes) {
        return convert(model, moduleName, inputShapes, OnnxIo.MODEL, new ReadBudget(model.file(), MAX_CONSTANT_BYTES));
    }

    /** The existing files with a model's external data; empty if the file is not an ONNX model. */
    public static List<Path> externalFiles(Path file) {
        try {
            Bytes content = ModelFile.read(file, MAX_FILE_BYTES, "an .onnx file");
            return ModelReader.externalFiles(content, ModelFile.name(file), file.toAbsolutePath());
        } catch (KilnException refusedLater) {
            return List.of();
        }
    }

    private static Function convert(
            OnnxModel model, String moduleName, InputShapes inputShapes, OnnxIo io, ReadBudget budget) {
        Function imported = new OnnxModelImporter(model, io, budget).read(moduleName, inputShapes);
        return new FoldChannelFactors().run(new MoveTransposes().run(imported)).withIdsInOrder();
    }
}
