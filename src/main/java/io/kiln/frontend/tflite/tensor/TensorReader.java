// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.tensor;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatVector;
import io.kiln.frontend.tflite.schema.ModelTables.BlockwiseQuantization;
import io.kiln.frontend.tflite.schema.ModelTables.QuantizationParameters;
import io.kiln.frontend.tflite.schema.ModelTables.Tensor;
import io.kiln.frontend.tflite.schema.SchemaEnums.TfliteType;
import io.kiln.frontend.tflite.tensor.QuantizationReader.GivenShapes;
import io.kiln.frontend.tflite.tensor.TensorBuffers.SparseConstant;
import io.kiln.frontend.tflite.tensor.TfliteTensor.TensorQuantization;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.HalfRounding;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/** Reads and checks the tensors of a subgraph, each when it is first used. */
public final class TensorReader {
    public static final int MAX_RANK = 8;

    private static final int MAX_NAME = 1024;
    private static final int MAX_SHOWN_NAME = 100;
    private static final String FIXED = "dimensions that are fixed and at least 1";

    private final FlatBuffer file;
    private final FlatVector tensors;
    private final TensorBuffers buffers;
    private final Map<Integer, TfliteTensor> read = new HashMap<>();
    private final GivenShapes shapes;
    private final Set<Integer> inputs;

    /**
     * A reader of all tensors.
     *
     * @param inputs indices of the model's inputs, unchecked
     * @param given the user's shapes of inputs
     * @param called shapes of inputs that the caller of a subgraph gives it, in the inputs' order; empty if it gives none
     * @param problems gets unknown names and shapes that do not fit
     */
    public TensorReader(
            FlatBuffer file,
            FlatVector tensors,
            TensorBuffers buffers,
            int[] inputs,
            InputShapes given,
            List<Shape> called,
            Problems problems) {
        this.file = file;
        this.tensors = tensors;
        this.buffers = buffers;
        this.inputs = Arrays.stream(inputs).boxed().collect(Collectors.toSet());
        this.shapes = new GivenShapes(this, inputs, given, called, file.file(), problems);
    }

    public int count() {
        return tensors.size();
    }

    /** Whether the shapes of computed tensors are inferred from the inputs, ignoring those in the file. */
    public boolean shapesAreInferred() {
        return shapes.areInferred();
    }

    /** A tensor's table in the file; the index must be in range. */
    FlatTable table(int index) {
        return tensors.table(index);
    }

    /** A tensor's name, in full. */
    String name(int index) {
        return name(tensors.table(index), index, MAX_NAME);
    }

    /**
     * The tensor at an index, which must exist.
     *
     * @throws KilnException with all of its errors
     */
    public TfliteTensor tensor(int index) {
        TfliteTensor known = read.get(index);
        if (known == null) {
            known = readTensor(index);
            read.put(index, known);
        }
        return known;
    }

    /** A description for messages, even of a tensor that cannot be read. */
    public String describe(int index) {
        if (index == -1) {
            return "(none)";
        }
        if (index < 0 || index >= count()) {
            return "#" + index;
        }
        FlatTable table = tensors.table(index);
        String type = TfliteType.of(table.get(Tensor.TYPE))
                .map(t -> t.dtype().map(DType::text).orElse(t.name()))
                .orElse("type " + table.get(Tensor.TYPE));
        FlatVector dims = table.get(Tensor.SHAPE);
        String shape = dims.size() > MAX_RANK ? "of rank " + dims.size() : dimsText(dims.ints());
        return "`" + name(table, index, MAX_SHOWN_NAME) + "` " + type + " " + shape;
    }

    private TfliteTensor readTensor(int index) {
        FlatTable table = tensors.table(index);
        PlaceFindings findings = new PlaceFindings(() -> file.file() + ": tensor #" + index + " " + describe(index));
        Optional<DType> dtype = readType(table, findings);
        Optional<Shape> shape = readShape(index, table, findings);
        findings.throwIfAny();
        TensorType type = checkedSize(new TensorType(shape.orElseThrow(), dtype.orElseThrow()), findings);
        boolean isBlockwise = BlockwiseConstant.is(table.get(Tensor.QUANTIZATION));
        Optional<PackedConstants> packing =
                TfliteType.of(table.get(Tensor.TYPE)).flatMap(PackedConstants::of);
        int bits = packing.map(PackedConstants::bits)
                .orElse(Byte.SIZE * type.dtype().bytes());
        TensorQuantization quantization = table.get(Tensor.QUANTIZATION)
                .filter(q -> !isBlockwise)
                .map(q -> QuantizationReader.read(q, type, bits, findings))
                .orElse(TensorQuantization.NONE);
        if (table.has(Tensor.SPARSITY)) {
            return sparse(index, type, quantization, packing, findings);
        }
        long bytes = packing.map(p -> p.bytes(type.shape().elements())).orElse(type.bytes());
        FlatVector data = buffers.data(table, bytes, findings);
        if (data.size() == 0 && packing.isPresent() && bytes > 0) {
            findings.add(
                    "only constants can be " + packing.get().text(),
                    "a tensor of " + type.dtype().text(),
                    "Convert the model again");
        }
        findings.throwIfAny();
        String name = name(table, index, MAX_NAME);
        TfliteTensor.Storage storage = new TfliteTensor.Storage(data, table.get(Tensor.IS_VARIABLE));
        TfliteTensor tensor = new TfliteTensor(index, name, type, quantization, storage, Optional.empty(), false);
        if (packing.isPresent() && bytes > 0) {
            table.spend(type.bytes());
            tensor = tensor.withValue(new Constant(name, type, packing.get().unpack(data.bytes(), type)));
        }
        return isBlockwise ? tensor.withValue(ofBlocks(table, tensor, findings)) : tensor;
    }

    private Constant ofBlocks(FlatTable table, TfliteTensor tensor, PlaceFindings findings) {
        if (!tensor.isStored() || !tensor.dtype().isInteger() || tensor.dtype().isLong()) {
            findings.add(
                    tensor.text() + " has a scale for each block",
                    "constant integers with scales for blocks",
                    "Quantize weights alone for each block");
            throw findings.exception();
        }
        return BlockwiseConstant.of(
                table.get(Tensor.QUANTIZATION).orElseThrow(),
                tensor.stored(),
                index -> parameter(index, findings),
                findings);
    }

    /** A tensor that describes another one, and is not described by a third. */
    private TfliteTensor parameter(int index, PlaceFindings findings) {
        boolean isPlain = index >= 0
                && index < count()
                && !BlockwiseConstant.is(tensors.table(index).get(Tensor.QUANTIZATION));
        if (!isPlain) {
            findings.add(
                    "its blocks are described by tensor #" + index,
                    "a tensor with a number for each block",
                    "Quantize the model again");
            throw findings.exception();
        }
        return tensor(index);
    }

    /** A constant of which some elements are stored; it is a tensor with all of them. */
    private TfliteTensor sparse(
            int index,
            TensorType type,
            TensorQuantization quantization,
            Optional<PackedConstants> packing,
            PlaceFindings findings) {
        FlatTable table = tensors.table(index);
        FlatVector data = buffers.data(table, findings);
        long width = packing.map(p -> p.bytes(1)).orElse((long) type.dtype().bytes());
        boolean isWhole = packing.map(p -> p.bytes(2) == 2 * width).orElse(true);
        if (data.size() == 0 || !isWhole) {
            findings.add(
                    data.size() == 0
                            ? "it is sparse and has no data"
                            : "it is sparse and has several elements to a byte",
                    "a sparse constant of whole bytes",
                    "Convert the model with dense weights");
        }
        findings.throwIfAny();
        table.spend(2 * Math.max(type.bytes(), type.shape().elements() * width));
        try {
            byte[] all = SparseConstant.expand(
                    table.get(Tensor.SPARSITY).orElseThrow(), type.shape(), data.bytes(), (int) width);
            Bytes value = packing.map(p -> p.unpack(all, type)).orElseGet(() -> Bytes.wrap(all));
            String name = name(table, index, MAX_NAME);
            TfliteTensor.Storage storage = new TfliteTensor.Storage(data, table.get(Tensor.IS_VARIABLE));
            return new TfliteTensor(index, name, type, quantization, storage, Optional.empty(), false)
                    .withValue(new Constant(name, type, value));
        } catch (IllegalArgumentException e) {
            findings.add(e.getMessage(), "the form of the schema's SparsityParameters", "Convert the model again");
            throw findings.exception();
        }
    }

    private static Optional<DType> readType(FlatTable table, PlaceFindings findings) {
        int code = table.get(Tensor.TYPE);
        Optional<DType> dtype = TfliteType.of(code).flatMap(TfliteType::dtype);
        if (dtype.isEmpty()) {
            findings.add(
                    "element type " + TfliteType.of(code).map(Enum::name).orElse("" + code) + " is not supported",
                    "int8 or float32 (int32 for biases and shapes)",
                    "Quantize the model to int8 or convert it to float32");
        }
        return dtype;
    }

    private Optional<Shape> readShape(int index, FlatTable table, PlaceFindings findings) {
        if (shapes.of(index).isPresent()) {
            return shapes.of(index);
        }
        FlatVector vector = table.get(Tensor.SHAPE);
        if (vector.size() > MAX_RANK) {
            findings.add("rank " + vector.size(), "a rank of at most " + MAX_RANK, "");
            return Optional.empty();
        }
        if (inputs.contains(index) && !GivenShapes.openDimensions(table).isEmpty()) {
            findings.add(
                    "the input leaves dimensions open: " + GivenShapes.openDimensions(table),
                    FIXED,
                    "Set " + GivenShapes.example(name(table, index, MAX_NAME), table) + " with a number for each ?");
            return Optional.empty();
        }
        List<Integer> dims = new ArrayList<>();
        for (int dim : vector.ints()) {
            if (dim < 0 && !shapes.areInferred()) {
                findings.add(
                        dim == -1 ? "dimension " + dims.size() + " is dynamic" : "dimension is " + dim,
                        FIXED,
                        "Give the model's inputs fixed shapes with kiln.inputShapes, such as "
                                + inputs.stream()
                                        .sorted()
                                        .filter(i -> i >= 0 && i < count())
                                        .limit(1)
                                        .map(i -> GivenShapes.example(name(i), table(i)))
                                        .collect(Collectors.joining()));
                return Optional.empty();
            }
            // The operator gives the shape of a computed tensor; 1 is a placeholder.
            dims.add(dim < 0 ? 1 : dim);
        }
        return Optional.of(new Shape(dims));
    }

    private static TensorType checkedSize(TensorType type, PlaceFindings findings) {
        double bytes = type.dtype().bytes();
        for (int dim : type.shape().dims()) {
            bytes *= dim;
        }
        if (bytes > TensorType.MAX_BYTES) {
            findings.add(
                    "the tensor would take " + String.format(Locale.ROOT, "%.0f", bytes) + " bytes",
                    "at most " + TensorType.MAX_BYTES + " bytes",
                    "Check the model's input shape");
            findings.throwIfAny();
        }
        return type;
    }

    private static String name(FlatTable table, int index, int limit) {
        String name = table.get(Tensor.NAME, limit);
        return name.isEmpty() ? "tensor_" + index : name;
    }

    private static String dimsText(int[] dims) {
        StringBuilder text = new StringBuilder("(");
        for (int i = 0; i < dims.length; i++) {
            text.append(i == 0 ? "" : ", ").append(dims[i]);
        }
        return text.append(dims.length == 1 ? ",)" : ")").toString();
    }

    /** Constants of types that are smaller in the file than in the IR. */
    private enum PackedConstants {
        /** Two's complement, two to a byte, the first in the lower half; becomes int8. */
        INT4("int4", 4, true),
        /** As {@link #INT4}, without a sign; becomes uint8. */
        UINT4("uint4", 4, false),
        /** Two's complement, four to a byte, the first in the lowest bits; becomes int8. */
        INT2("int2", 2, true),
        /** IEEE 754 half precision; becomes float32, which holds every value. */
        FLOAT16("float16", Short.SIZE, true);

        private final String text;
        private final int bits;
        private final boolean isSigned;

        PackedConstants(String text, int bits, boolean isSigned) {
            this.text = text;
            this.bits = bits;
            this.isSigned = isSigned;
        }

        /** The packing of a type; empty if constants have the same form in file and IR. */
        static Optional<PackedConstants> of(TfliteType type) {
            return switch (type) {
                case INT4 -> Optional.of(INT4);
                case UINT4 -> Optional.of(UINT4);
                case INT2 -> Optional.of(INT2);
                case FLOAT16 -> Optional.of(FLOAT16);
                default -> Optional.empty();
            };
        }

        /** The type's name for messages. */
        String text() {
            return text;
        }

        /** Number of bits of an element in the file. */
        int bits() {
            return bits;
        }

        /** Number of bytes of packed elements in the file. */
        long bytes(long elements) {
            return (elements * bits + Byte.SIZE - 1) / Byte.SIZE;
        }

        private void unpack(ByteBuffer from, ByteBuffer to) {
            int unused = Integer.SIZE - bits;
            for (int at = 0; to.hasRemaining(); at += bits) {
                if (this == FLOAT16) {
                    to.putFloat(HalfRounding.ofBits(from.getShort()));
                    continue;
                }
                int high = from.get(at / Byte.SIZE) << (unused - at % Byte.SIZE);
                to.put((byte) (isSigned ? high >> unused : high >>> unused));
            }
        }

        /** Elements of the IR's type. */
        Bytes unpack(byte[] data, TensorType type) {
            ByteBuffer to = ByteBuffer.allocate((int) type.bytes()).order(ByteOrder.LITTLE_ENDIAN);
            unpack(ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN), to);
            return Bytes.wrap(to.array());
        }
    }

    /**
     * Weights with a scale for each block of consecutive elements of a row: {@code scale[block] * (element - zeroPoint[block])}, as constants of
     * float32.
     */
    private static final class BlockwiseConstant {
        /** The index of no tensor. */
        private static final int NONE = -1;

        private BlockwiseConstant() {}

        /** Whether a tensor is quantized like this; its scales, if it states any, then have no meaning. */
        static boolean is(Optional<FlatTable> quantization) {
            return quantization
                    .filter(table -> table.get(QuantizationParameters.DETAILS_TYPE) == BlockwiseQuantization.CODE)
                    .isPresent();
        }

        /**
         * The real numbers.
         *
         * @param elements the integers
         * @param tensors reads the constants that are scales and zero points
         */
        static Constant of(
                FlatTable quantization, Constant elements, IntFunction<TfliteTensor> tensors, PlaceFindings findings) {
            FlatTable details = quantization
                    .get(QuantizationParameters.DETAILS)
                    .orElseThrow(() -> failure(findings, "its blockwise quantization is missing", "scales of blocks"));
            int block = details.get(BlockwiseQuantization.BLOCK_SIZE);
            Shape shape = elements.type().shape();
            if (block < 1 || shape.rank() == 0 || shape.dim(-1) % block != 0) {
                throw failure(
                        findings,
                        "its rows of " + shape.text() + " have blocks of " + block,
                        "blocks that divide the rows");
            }
            int blocks = elements.elements() / block;
            Constant scales = numbers(tensors.apply(details.get(BlockwiseQuantization.SCALES)), blocks, true, findings);
            int zeroIndex = details.get(BlockwiseQuantization.ZERO_POINTS);
            Optional<Constant> zeros = zeroIndex == NONE
                    ? Optional.empty()
                    : Optional.of(numbers(tensors.apply(zeroIndex), blocks, false, findings));
            quantization.spend(Float.BYTES * (long) elements.elements());
            return Constant.reals(elements.name(), shape, i -> {
                long zero = zeros.map(z -> z.integer(i / block)).orElse(0L);
                return scales.real(i / block) * (elements.integer(i) - zero);
            });
        }

        private static Constant numbers(TfliteTensor tensor, int blocks, boolean areReal, PlaceFindings findings) {
            Optional<Constant> value = tensor.isStored() ? Optional.of(tensor.stored()) : Optional.empty();
            return value.filter(constant ->
                            constant.elements() == blocks && tensor.dtype().isFloat() == areReal)
                    .orElseThrow(() -> failure(
                            findings,
                            "its blocks have the " + (areReal ? "scales " : "zero points ") + tensor.text(),
                            blocks + " constants of " + (areReal ? "float16 or float32" : "integers")));
        }

        private static RuntimeException failure(PlaceFindings findings, String what, String expected) {
            findings.add(what, expected, "Quantize the model again");
            return findings.exception();
        }
    }
}
