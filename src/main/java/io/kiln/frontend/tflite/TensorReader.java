// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads and checks the tensors of a subgraph, each when it is first used. */
final class TensorReader {
    /** No microcontroller holds more, and element indices stay far from overflow. */
    static final long MAX_BYTES = 1L << 28;

    private static final int MAX_RANK = 8;
    private static final int MAX_NAME = 1024;
    private static final int MAX_SHOWN_NAME = 100;
    private static final int HAS_NO_DATA = 0;

    private final FlatBuffer file;
    private final FlatVector tensors;
    private final FlatVector buffers;
    private final Map<Integer, TfliteTensor> read = new HashMap<>();

    TensorReader(FlatBuffer file, FlatVector tensors, FlatVector buffers) {
        this.file = file;
        this.tensors = tensors;
        this.buffers = buffers;
    }

    int count() {
        return tensors.size();
    }

    /**
     * The tensor at an index, which must exist.
     *
     * @throws KilnException with everything that is wrong with it
     */
    TfliteTensor tensor(int index) {
        TfliteTensor known = read.get(index);
        if (known == null) {
            known = readTensor(index);
            read.put(index, known);
        }
        return known;
    }

    /** What a message can say of a tensor even if it cannot be read. */
    String describe(int index) {
        if (index == -1) {
            return "(none)";
        }
        if (index < 0 || index >= count()) {
            return "#" + index;
        }
        FlatTable table = tensors.table(index);
        String type = TfliteType.of(table.u8(1, 0))
                .map(t -> t.dtype().map(DType::text).orElse(t.name()))
                .orElse("type " + table.u8(1, 0));
        FlatVector dims = table.vector(0, 4);
        String shape = dims.size() > MAX_RANK ? "of rank " + dims.size() : dimsText(dims.ints());
        return "`" + name(table, index, MAX_SHOWN_NAME) + "` " + type + " " + shape;
    }

    private TfliteTensor readTensor(int index) {
        FlatTable table = tensors.table(index);
        Findings findings = new Findings(() -> file.file() + ": tensor #" + index + " " + describe(index));
        Optional<DType> dtype = readType(table, findings);
        Optional<Shape> shape = readShape(table, findings);
        if (table.has(6)) {
            findings.add("sparse tensors are not supported", "dense data", "Convert without sparsity");
        }
        findings.throwIfAny();
        TensorType type = checkedSize(new TensorType(shape.orElseThrow(), dtype.orElseThrow()), findings);
        TensorQuantization quantization = table.table(4)
                .map(q -> QuantizationReader.read(q, type, findings))
                .orElse(TensorQuantization.NONE);
        FlatVector data = readData(table, findings);
        if (data.size() != 0 && data.size() != type.bytes()) {
            findings.add(
                    "the constant has " + data.size() + " bytes",
                    type.bytes() + " bytes for its shape and type",
                    "Export the model again");
        }
        findings.throwIfAny();
        return new TfliteTensor(index, name(table, index, MAX_NAME), type, quantization, data, table.u8(5, 0) != 0);
    }

    private static Optional<DType> readType(FlatTable table, Findings findings) {
        int code = table.u8(1, 0);
        Optional<DType> dtype = TfliteType.of(code).flatMap(TfliteType::dtype);
        if (dtype.isEmpty()) {
            findings.add(
                    "element type " + TfliteType.of(code).map(Enum::name).orElse("" + code) + " is not supported",
                    "int8 or float32 (int32 for biases and shapes)",
                    "Quantize the model to int8 or convert it to float32");
        }
        return dtype;
    }

    private static Optional<Shape> readShape(FlatTable table, Findings findings) {
        FlatVector vector = table.vector(0, 4);
        if (vector.size() > MAX_RANK) {
            findings.add("rank " + vector.size(), "a rank of at most " + MAX_RANK, "");
            return Optional.empty();
        }
        List<Integer> dims = new ArrayList<>();
        for (int dim : vector.ints()) {
            if (dim < 1) {
                findings.add(
                        dim == -1 ? "dimension " + dims.size() + " is dynamic" : "dimension is " + dim,
                        "dimensions that are fixed and at least 1",
                        "Convert the model with a fixed input shape");
                return Optional.empty();
            }
            dims.add(dim);
        }
        return Optional.of(new Shape(dims));
    }

    private static TensorType checkedSize(TensorType type, Findings findings) {
        double bytes = type.dtype().bytes();
        for (int dim : type.shape().dims()) {
            bytes *= dim;
        }
        if (bytes > MAX_BYTES) {
            findings.add(
                    "the tensor would take " + String.format("%.0f", bytes) + " bytes",
                    "at most " + MAX_BYTES + " bytes",
                    "Check the model's input shape");
            findings.throwIfAny();
        }
        return type;
    }

    /** Small models keep data inside the FlatBuffer; large ones behind it, at an offset from the file's start. */
    private FlatVector readData(FlatTable table, Findings findings) {
        long index = table.i32(2, 0) & 0xFFFFFFFFL;
        if (index == HAS_NO_DATA) {
            return new FlatVector(file, 0, 0, 1);
        }
        if (index >= buffers.size()) {
            findings.add(
                    "buffer #" + index + " does not exist",
                    "one of the model's " + buffers.size() + " buffers",
                    "Export the model again");
            return new FlatVector(file, 0, 0, 1);
        }
        FlatTable buffer = buffers.table((int) index);
        long offset = buffer.i64(1, 0);
        long size = buffer.i64(2, 0);
        if (offset <= 1) {
            return buffer.vector(0, 1);
        }
        if (size < 0 || size > file.size() || offset < 0 || offset > file.size() - size) {
            throw file.corrupt("buffer #" + index + " lies outside the file", offset);
        }
        return new FlatVector(file, (int) offset, (int) size, 1);
    }

    private static String name(FlatTable table, int index, int limit) {
        String name = table.string(3, limit);
        return name.isEmpty() ? "tensor_" + index : name;
    }

    private static String dimsText(int[] dims) {
        StringBuilder text = new StringBuilder("(");
        for (int i = 0; i < dims.length; i++) {
            text.append(i == 0 ? "" : ", ").append(dims[i]);
        }
        return text.append(dims.length == 1 ? ",)" : ")").toString();
    }
}
