// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.ExternalData;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.ModelFile;
import io.kiln.frontend.ReadLimits;
import io.kiln.frontend.ReadModel;
import io.kiln.frontend.onnx.model.OnnxModel;
import io.kiln.frontend.onnx.reader.ModelReader;
import io.kiln.frontend.onnx.reader.ModelReader.ReadBudget;
import io.kiln.ir.Function;
import io.kiln.reference.ConstantFolder;
import io.kiln.transform.FoldChannelFactors;
import io.kiln.transform.layout.MoveTransposes;
import java.nio.file.Path;
import java.util.List;

/** Reads an {@code .onnx} file into the graph IR. The file is untrusted. */
public final class OnnxFrontend {
    /** Suffix of model files. */
    public static final String SUFFIX = ".onnx";

    /**
     * Usual size limit. A float model is four times as large as the int8 model that the build makes of it, so that the int8 model has at most the
     * 32 MiB that the other readers take. Reading a model takes a small multiple of its size in memory. Protobuf itself reads files below 2 GiB.
     */
    public static final long USUAL_BYTES = 128L << 20;

    /**
     * Limit of all constants as they are held in memory, those of other files and those that are computed while the model is read included, as a
     * multiple of the file's limit: halves become floats, and layouts change.
     */
    private static final long CONSTANTS_OF_FILE = 4;

    private OnnxFrontend() {}

    /** Whether a file is an ONNX model by its name. */
    public static boolean accepts(Path file) {
        return ModelFile.name(file).endsWith(SUFFIX);
    }

    /**
     * Reads a model file, and the files beside it that hold its data.
     *
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
        return read(file, moduleName, inputShapes, io, ReadLimits.STANDARD);
    }

    /**
     * Reads a model file within other limits.
     *
     * @param limits what may be read
     */
    public static Function read(Path file, String moduleName, InputShapes inputShapes, OnnxIo io, ReadLimits limits) {
        return model(file, moduleName, inputShapes, io, limits).function();
    }

    /** Reads a model file within other limits, and tells what it states wrongly about itself. */
    public static ReadModel model(Path file, String moduleName, InputShapes inputShapes, OnnxIo io, ReadLimits limits) {
        Bytes content = ModelFile.read(file, limits, USUAL_BYTES, "an .onnx file");
        ReadBudget budget = budget(ModelFile.name(file), limits);
        OnnxModel model = ModelReader.read(content, ModelFile.name(file), ExternalData.of(file, limits), budget);
        return convert(model, moduleName, inputShapes, io, budget);
    }

    /**
     * Reads a model from memory, without external data.
     *
     * @param content the model's bytes
     * @param fileName its name in messages and origins
     */
    public static Function read(Bytes content, String fileName, String moduleName, InputShapes inputShapes) {
        ReadBudget budget = budget(fileName, ReadLimits.STANDARD);
        OnnxModel model = ModelReader.read(content, fileName, ExternalData.NONE, budget);
        return convert(model, moduleName, inputShapes, OnnxIo.MODEL, budget).function();
    }

    /** Imports a model that was read, see {@link ModelReader}. */
    public static ReadModel convert(OnnxModel model, String moduleName, InputShapes inputShapes) {
        return convert(model, moduleName, inputShapes, OnnxIo.MODEL, budget(model.file(), ReadLimits.STANDARD));
    }

    /** The existing files with a model's external data; empty if the file is not an ONNX model. */
    public static List<Path> externalFiles(Path file, ReadLimits limits) {
        try {
            Bytes content = ModelFile.read(file, limits, USUAL_BYTES, "an .onnx file");
            return ModelReader.externalFiles(content, ModelFile.name(file), ExternalData.of(file, limits));
        } catch (KilnException refusedLater) {
            return List.of();
        }
    }

    private static ReadBudget budget(String file, ReadLimits limits) {
        return new ReadBudget(file, CONSTANTS_OF_FILE * limits.most(USUAL_BYTES));
    }

    private static ReadModel convert(
            OnnxModel model, String moduleName, InputShapes inputShapes, OnnxIo io, ReadBudget budget) {
        ConstantFolder folder = new ConstantFolder(budget.spent());
        OnnxModelImporter importer = new OnnxModelImporter(model, io, folder);
        Function imported = importer.read(moduleName, inputShapes);
        return new ReadModel(
                new FoldChannelFactors()
                        .run(new MoveTransposes().run(imported, folder))
                        .withIdsInOrder(),
                importer.warnings());
    }
}
