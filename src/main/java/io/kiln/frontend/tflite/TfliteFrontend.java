// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.ExternalData;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.ModelFile;
import io.kiln.frontend.ReadLimits;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.schema.ModelTables.Model;
import io.kiln.frontend.tflite.tensor.TensorBuffers;
import io.kiln.ir.Function;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Reads a {@code .tflite} file (FlatBuffers schema version 3) into the graph IR. The file is untrusted. */
public final class TfliteFrontend {
    /** Usual size limit; the memories of few boards hold a larger file. */
    public static final long USUAL_BYTES = 32L << 20;

    private static final String IDENTIFIER = "TFL3";
    private static final int SCHEMA_VERSION = 3;

    private TfliteFrontend() {}

    /**
     * Reads a model file.
     *
     * @param moduleName name of the resulting function
     * @throws KilnException with all errors and unsupported operators of the file
     */
    public static Function read(Path file, String moduleName) {
        return read(file, moduleName, InputShapes.NONE);
    }

    /**
     * Reads a model file with input shapes chosen by the user; all others are inferred from them.
     *
     * @param moduleName name of the resulting function
     * @param inputShapes shapes of inputs by name
     * @throws KilnException with all errors and unsupported operators of the file, and shapes that do not fit
     */
    public static Function read(Path file, String moduleName, InputShapes inputShapes) {
        return read(file, moduleName, inputShapes, CustomOperators.NONE);
    }

    /**
     * Reads a model file with operators computed by the user's C functions.
     *
     * @param customOperators these operators
     * @throws KilnException with all errors and unsupported operators of the file, and shapes that do not fit
     */
    public static Function read(
            Path file, String moduleName, InputShapes inputShapes, CustomOperators customOperators) {
        return read(file, moduleName, inputShapes, customOperators, TfliteRounding.MICRO, ReadLimits.STANDARD);
    }

    /**
     * As {@link #read(Path, String, InputShapes, CustomOperators)}.
     *
     * @param rounding whose arithmetic the operators have
     * @param limits what may be read
     */
    public static Function read(
            Path file,
            String moduleName,
            InputShapes inputShapes,
            CustomOperators customOperators,
            TfliteRounding rounding,
            ReadLimits limits) {
        return read(
                ModelFile.read(file, limits, USUAL_BYTES, "a .tflite file"),
                ModelFile.name(file),
                moduleName,
                inputShapes,
                customOperators,
                rounding,
                ExternalData.beside(file));
    }

    /** The files beside a model that have data of its constants, of those that exist; none of a file that is no model. */
    public static List<Path> externalFiles(Path file, ReadLimits limits) {
        try {
            Bytes content = ModelFile.read(file, limits, USUAL_BYTES, "a .tflite file");
            FlatBuffer buffer =
                    new FlatBuffer(ModelFile.name(file), content, 4 * Math.max(USUAL_BYTES, content.size()));
            ExternalData external = ExternalData.beside(file);
            return TensorBuffers.files(model(buffer, content)).stream()
                    .flatMap(name -> external.find(Map.of("location", name), name).stream())
                    .toList();
        } catch (KilnException refusedLater) {
            return List.of();
        }
    }

    /**
     * Reads a model from memory.
     *
     * @param content the model's bytes
     * @param fileName its name in messages and origins
     * @param moduleName name of the resulting function
     * @throws KilnException with all errors and unsupported operators of the model
     */
    public static Function read(Bytes content, String fileName, String moduleName) {
        return read(content, fileName, moduleName, InputShapes.NONE);
    }

    /** As {@link #read(Path, String, InputShapes)}, from memory. */
    public static Function read(Bytes content, String fileName, String moduleName, InputShapes inputShapes) {
        return read(content, fileName, moduleName, inputShapes, CustomOperators.NONE, TfliteRounding.MICRO);
    }

    /** As {@link #read(Path, String, InputShapes, CustomOperators, TfliteRounding, ReadLimits)}, from memory. */
    public static Function read(
            Bytes content,
            String fileName,
            String moduleName,
            InputShapes inputShapes,
            CustomOperators customOperators,
            TfliteRounding rounding) {
        return read(content, fileName, moduleName, inputShapes, customOperators, rounding, ExternalData.NONE);
    }

    private static Function read(
            Bytes content,
            String fileName,
            String moduleName,
            InputShapes inputShapes,
            CustomOperators customOperators,
            TfliteRounding rounding,
            ExternalData external) {
        FlatBuffer buffer = new FlatBuffer(fileName, content, 4 * Math.max(USUAL_BYTES, content.size()));
        FlatTable model = model(buffer, content);
        TensorBuffers buffers = new TensorBuffers(buffer, model, external);
        return new ModelImporter(buffer, model, buffers, customOperators, rounding).main(moduleName, inputShapes);
    }

    /** The root of a file, which must be a model of the schema's version. */
    private static FlatTable model(FlatBuffer buffer, Bytes content) {
        String fileName = buffer.file();
        if (content.size() < 8 || !identifier(content).equals(IDENTIFIER)) {
            throw Failure.MODEL.exception(
                    content.size() == 0 ? "the file is empty" : "this is not a TensorFlow Lite model",
                    fileName,
                    "the file identifier " + IDENTIFIER + " at byte 4",
                    "Convert the model with the TensorFlow Lite converter");
        }
        FlatTable model = buffer.root();
        int version = model.get(Model.VERSION);
        if (version != SCHEMA_VERSION) {
            throw Failure.MODEL.exception(
                    "schema version " + version + " is not supported",
                    fileName,
                    "schema version " + SCHEMA_VERSION,
                    "Convert the model again");
        }
        return model;
    }

    private static String identifier(Bytes content) {
        StringBuilder identifier = new StringBuilder();
        for (int i = 4; i < 8; i++) {
            identifier.append((char) content.get(i));
        }
        return identifier.toString();
    }
}
