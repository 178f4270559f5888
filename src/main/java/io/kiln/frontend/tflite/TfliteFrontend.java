// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.frontend.InputShapes;
import io.kiln.ir.Function;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Reads a {@code .tflite} file (FlatBuffers schema version 3) into the graph IR. Nothing in the file is trusted. */
public final class TfliteFrontend {
    /** Larger files are refused; no microcontroller's memory holds them. */
    public static final long MAX_FILE_BYTES = 32L << 20;

    private static final String IDENTIFIER = "TFL3";
    private static final int SCHEMA_VERSION = 3;
    private static final int MAX_ENTRIES = 1 << 16;
    private static final int MAX_NAME = 1024;

    private TfliteFrontend() {}

    /**
     * Reads a model file.
     *
     * @param file the model
     * @param moduleName name of the resulting function
     * @throws KilnException with everything that is wrong with the file or not supported
     */
    public static Function read(Path file, String moduleName) {
        return read(file, moduleName, InputShapes.NONE);
    }

    /**
     * Reads a model file whose inputs get shapes of the user's choice; all others follow from them.
     *
     * @param file the model
     * @param moduleName name of the resulting function
     * @param inputShapes shapes of inputs by name
     * @throws KilnException with everything that is wrong with the file or not supported, or does not fit the shapes
     */
    public static Function read(Path file, String moduleName, InputShapes inputShapes) {
        return read(content(file), fileName(file), moduleName, inputShapes);
    }

    /**
     * Reads a model from memory.
     *
     * @param content the model's bytes
     * @param fileName what messages and origins call it
     * @param moduleName name of the resulting function
     * @throws KilnException with everything that is wrong with the model or not supported
     */
    public static Function read(Bytes content, String fileName, String moduleName) {
        return read(content, fileName, moduleName, InputShapes.NONE);
    }

    /** As {@link #read(Path, String, InputShapes)}, from memory. */
    public static Function read(Bytes content, String fileName, String moduleName, InputShapes inputShapes) {
        FlatBuffer buffer = new FlatBuffer(fileName, content, 4 * MAX_FILE_BYTES);
        if (content.size() < 8 || !identifier(content).equals(IDENTIFIER)) {
            throw new KilnException(new Problem(
                    content.size() == 0 ? "the file is empty" : "this is not a TensorFlow Lite model",
                    fileName,
                    "the file identifier " + IDENTIFIER + " at byte 4",
                    "Convert the model with the TensorFlow Lite converter"));
        }
        FlatTable model = buffer.root();
        int version = model.i32(0, 0);
        if (version != SCHEMA_VERSION) {
            throw new KilnException(new Problem(
                    "schema version " + version + " is not supported",
                    fileName,
                    "schema version " + SCHEMA_VERSION,
                    "Convert the model again"));
        }
        return readGraph(buffer, model, moduleName, inputShapes);
    }

    private static Function readGraph(FlatBuffer buffer, FlatTable model, String moduleName, InputShapes inputShapes) {
        String file = buffer.file();
        Problems problems = new Problems();
        FlatVector subgraphs = limited(model.vector(2, 4), "subgraphs", file, problems);
        problems.throwIfAny();
        FlatTable graph = subgraphs.table(0);
        FlatVector inputs = limited(graph.vector(1, 4), "model inputs", file, problems);
        FlatVector outputs = limited(graph.vector(2, 4), "model outputs", file, problems);
        FlatVector tensors = limited(graph.vector(0, 4), "tensors", file, problems);
        FlatVector operators = limited(graph.vector(3, 4), "operators", file, problems);
        problems.throwIfAny();
        if (subgraphs.size() > 1) {
            problems.add(
                    "the model has " + subgraphs.size() + " subgraphs",
                    file,
                    "1 subgraph: no control flow, one signature",
                    "Export each signature as a model of its own");
        }
        TensorReader reader =
                new TensorReader(buffer, tensors, model.vector(4, 4), inputs.ints(), inputShapes, problems);
        List<OperatorRecord> records = operators(model.vector(1, 4), operators, file);
        return new GraphImporter(file, reader, records, problems).read(moduleName, inputs.ints(), outputs.ints());
    }

    private static FlatVector limited(FlatVector vector, String what, String file, Problems problems) {
        if (vector.size() == 0) {
            problems.add("the model has no " + what, file, "at least one", "Export the model again");
        } else if (vector.size() > MAX_ENTRIES) {
            problems.add("the model has " + vector.size() + " " + what, file, "at most " + MAX_ENTRIES, "");
        }
        return vector;
    }

    private static List<OperatorRecord> operators(FlatVector codes, FlatVector operators, String file) {
        List<OperatorRecord> records = new ArrayList<>();
        for (int i = 0; i < operators.size(); i++) {
            FlatTable table = operators.table(i);
            long code = table.i32(0, 0) & 0xFFFFFFFFL;
            if (code >= codes.size()) {
                throw new KilnException(new Problem(
                        "operator code #" + code + " does not exist",
                        file + ": operator #" + i,
                        "one of the model's " + codes.size() + " operator codes",
                        "Export the model again"));
            }
            records.add(operator(i, codes.table((int) code), table));
        }
        return records;
    }

    /** Codes above 126 stand in a newer field; the older one then holds a placeholder. */
    private static OperatorRecord operator(int index, FlatTable code, FlatTable table) {
        int builtin = Math.max(code.u8(0, 0), code.i32(3, 0));
        String name = builtin == BuiltinNames.CUSTOM ? "CUSTOM " + code.string(1, MAX_NAME) : BuiltinNames.of(builtin);
        return new OperatorRecord(index, builtin, code.i32(2, 1), name, table);
    }

    private static String identifier(Bytes content) {
        StringBuilder identifier = new StringBuilder();
        for (int i = 4; i < 8; i++) {
            identifier.append((char) content.get(i));
        }
        return identifier.toString();
    }

    private static Bytes content(Path file) {
        if (!Files.isRegularFile(file)) {
            String what = Files.isDirectory(file)
                    ? "this is a directory"
                    : Files.exists(file) ? "this is not a regular file" : "the file does not exist";
            throw new KilnException(
                    new Problem(what, file.toString(), "a .tflite file", "Set kiln.model to the model file"));
        }
        try {
            long size = Files.size(file);
            if (size > MAX_FILE_BYTES) {
                throw new KilnException(new Problem(
                        String.format(Locale.ROOT, "the file has %,d bytes", size),
                        file.toString(),
                        String.format(Locale.ROOT, "at most %,d bytes", MAX_FILE_BYTES),
                        "Choose a model that fits a microcontroller"));
            }
            return Bytes.wrap(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new KilnException(
                    new Problem("the file cannot be read: " + e.getMessage(), file.toString(), "", ""), e);
        }
    }

    private static String fileName(Path file) {
        Path name = file.getFileName();
        return name == null ? file.toString() : name.toString();
    }
}
