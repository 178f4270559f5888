// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.constant;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.INT8;
import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.custom;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Constant;
import io.kiln.ir.op.element.Full;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Operators whose results are constant, or repeat one element. */
public final class ConstantImporters {
    private static final int MOST_DIMS = 8;

    public static final List<Registration> ALL = List.of(
            builtin(BuiltinOperator.DENSIFY, 1, ConstantImporters::densify),
            builtin(BuiltinOperator.FILL, 4, ConstantImporters::fill),
            builtin(BuiltinOperator.ZEROS_LIKE, 1, new ZerosImporter()),
            custom("TFLM_DECODE", ConstantImporters::decode));

    private ConstantImporters() {}

    /** DENSIFY: sparse constants have all of their elements when they have been read. */
    private static void densify(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        operator.requireThat(
                data.isConstant(),
                data.text() + " is computed",
                "a sparse constant",
                "Export the model with dense weights");
        operator.finish(operator.constant(data));
    }

    /** ZEROS_LIKE: always a constant. */
    private static final class ZerosImporter implements OperatorImporter {
        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            operator.checkTypes(Set.of(FLOAT32, INT8, INT32, INT64), data, operator.output());
            TensorType type = data.type();
            operator.spend(type.bytes());
            operator.finish(new Constant("", type, Bytes.wrap(new byte[Math.toIntExact(type.bytes())])));
        }
    }

    /** TFLM_DECODE: constants that are compressed in the file. They are decoded during import, and stay constants. */
    private static void decode(OperatorContext operator) {
        List<TfliteTensor> outputs = operator.outputs();
        operator.requireThat(
                !outputs.isEmpty() && operator.inputCount() == 2 * outputs.size(),
                "it has " + operator.inputCount() + " inputs and " + outputs.size() + " outputs",
                "codes and ancillary data for each output",
                "Compress the model again");
        for (int i = 0; i < outputs.size(); i++) {
            decode(operator, operator.input(2 * i), operator.input(2 * i + 1), outputs.get(i));
        }
    }

    private static void decode(
            OperatorContext operator, TfliteTensor codes, TfliteTensor ancillary, TfliteTensor output) {
        operator.requireTypes(EncodedConstant.types(), output);
        for (TfliteTensor tensor : List.of(codes, ancillary)) {
            operator.require(
                    tensor.isStored() && !tensor.variable(),
                    tensor.text() + " is not constant",
                    "codes and ancillary data that are in the file",
                    "Compress the model again");
        }
        operator.check();
        operator.spend(output.type().bytes());
        try {
            byte[] decoded = EncodedConstant.decode(
                    codes.data().bytes(), ancillary.data().bytes(), output);
            operator.values().define(output.index(), new Constant(output.name(), output.type(), Bytes.wrap(decoded)));
        } catch (IllegalArgumentException e) {
            throw failure(operator, output, e);
        }
    }

    private static KilnException failure(OperatorContext operator, TfliteTensor output, IllegalArgumentException e) {
        return operator.failure(
                "`" + output.name() + "` cannot be decoded: " + e.getMessage(),
                "the format of TensorFlow Lite Micro's compressor");
    }

    /** FILL: a tensor of one value. The value may be computed; the dimensions must be constant. */
    private static void fill(OperatorContext operator) {
        TfliteTensor dims = operator.input(0);
        TfliteTensor value = operator.input(1);
        operator.requireTypes(Set.of(INT8, INT16, INT32, INT64), dims);
        operator.requireTypes(Set.of(FLOAT32, INT32, INT8), value, operator.output());
        operator.requireConstant("dimensions", dims);
        operator.require(
                dims.shape().rank() == 1 && dims.shape().dim(0) <= MOST_DIMS,
                "the dimensions are " + dims.text(),
                "a vector of at most " + MOST_DIMS,
                "");
        operator.requireThat(value.shape().rank() == 0, "the value is " + value.text(), "a scalar", "");
        Shape shape = shape(operator, operator.constant(dims));
        operator.finish(new Full(shape), operator.value(value));
    }

    private static Shape shape(OperatorContext operator, Constant dims) {
        List<Integer> sizes = new ArrayList<>();
        double elements = 1;
        for (int i = 0; i < dims.elements(); i++) {
            long size = dims.integer(i);
            elements *= size;
            operator.requireThat(
                    size >= 0 && elements <= TensorType.MAX_BYTES,
                    "dimension " + i + " is " + size,
                    "dimensions that make at most " + TensorType.MAX_BYTES + " bytes");
            sizes.add((int) size);
        }
        operator.spend((long) (elements * Integer.BYTES));
        return new Shape(sizes);
    }

    /**
     * A constant in the format of TensorFlow Lite Micro's compressor (decode_state_lut.cc, decode_state_prune.cc,
     * decode_state_huffman.cc): codes of some bits each, the first in the uppermost bits of a byte, and ancillary data. The
     * ancillary data begin with 16 bytes: the kind of code, version 1 of the format, two bytes of padding, version 1 of the
     * kind, and parameters of the kind; the values follow.
     *
     * <p>Channels are the decoded tensor's per-channel scales, along its first or last dimension.
     */
    static final class EncodedConstant {
        private static final int HEADER = 16;
        private static final int VERSION = 1;
        private static final int KIND_VERSION = 4;
        private static final int PARAMETERS = 5;
        private static final int STRIDE = 6;
        private static final int WIDTH_MASK = 7;
        private static final int LOOK_UP = 0;
        private static final int HUFFMAN = 1;
        private static final int PRUNED = 2;

        private final byte[] codes;
        private final ByteBuffer ancillary;
        private final TfliteTensor tensor;
        private final int channels;

        /** Number of consecutive elements of a channel. */
        private final long run;

        private EncodedConstant(byte[] codes, byte[] ancillary, TfliteTensor tensor) {
            this.codes = codes;
            this.ancillary = ByteBuffer.wrap(ancillary).order(ByteOrder.LITTLE_ENDIAN);
            this.tensor = tensor;
            this.channels = Math.max(1, tensor.quantization().scaleCount());
            int dimension = tensor.quantization().dimension();
            int rank = tensor.shape().rank();
            require(
                    channels == 1 || dimension == 0 || dimension == rank - 1,
                    "its channels are dimension " + dimension);
            this.run =
                    channels > 1 && dimension == rank - 1 ? 1 : tensor.shape().elements() / channels;
        }

        /**
         * The elements of a decoded tensor, little-endian.
         *
         * @throws IllegalArgumentException with a message for users if the data are invalid
         */
        static byte[] decode(byte[] codes, byte[] ancillary, TfliteTensor tensor) {
            require(
                    ancillary.length >= HEADER,
                    "its ancillary data have " + ancillary.length + " bytes, fewer than " + HEADER);
            require(
                    ancillary[VERSION] == 1 && ancillary[KIND_VERSION] == 1,
                    "its ancillary data are of version " + ancillary[VERSION] + " and " + ancillary[KIND_VERSION]
                            + ", not 1");
            EncodedConstant constant = new EncodedConstant(codes, ancillary, tensor);
            ByteBuffer decoded =
                    ByteBuffer.allocate((int) tensor.type().bytes()).order(ByteOrder.LITTLE_ENDIAN);
            switch (ancillary[0]) {
                case LOOK_UP -> constant.lookUp(decoded);
                case HUFFMAN -> constant.huffman(decoded);
                case PRUNED -> constant.pruned(decoded);
                default ->
                    throw new IllegalArgumentException("its code is of kind " + ancillary[0]
                            + ", not a look-up table (0), Huffman's (1) or pruned (2)");
            }
            return decoded.array();
        }

        private static void require(boolean holds, String what) {
            if (!holds) {
                throw new IllegalArgumentException(what);
            }
        }

        private int channel(long element) {
            return (int) (element / run % channels);
        }

        /** Bits from a position on; 0 beyond the end, because codes are read ahead. */
        private int bits(long from, int count) {
            int value = 0;
            for (long at = from; at < from + count; at++) {
                int octet = at / Byte.SIZE < codes.length ? codes[(int) (at / Byte.SIZE)] : 0;
                int shift = (int) (Byte.SIZE - 1 - at % Byte.SIZE);
                value = value << 1 | (octet >> shift & 1);
            }
            return value;
        }

        private void requireCodes(long bits) {
            require(
                    bits <= (long) Byte.SIZE * codes.length,
                    "its codes are " + codes.length + " bytes, too few for " + tensor.text());
        }

        /** Each code is an index into the values of its channel. */
        private void lookUp(ByteBuffer decoded) {
            int width = ancillary.get(PARAMETERS) & WIDTH_MASK;
            int stride = Byte.toUnsignedInt(ancillary.get(STRIDE));
            require(width > 0, "its codes have 0 bits");
            long elements = tensor.shape().elements();
            requireCodes(elements * width);
            for (long i = 0; i < elements; i++) {
                put(decoded, (long) channel(i) * stride + bits(i * width, width));
            }
        }

        /** A bit for each element tells whether its value is stored or is the zero point of its channel. */
        private void pruned(ByteBuffer decoded) {
            boolean isInt8 = tensor.dtype() == DType.INT8;
            require(
                    isInt8 || tensor.quantization().isSymmetric(),
                    "pruned elements of " + tensor.dtype().text() + " are not zero: there is a zero point");
            long elements = tensor.shape().elements();
            requireCodes(elements);
            int next = 0;
            for (long i = 0; i < elements; i++) {
                if (bits(i, 1) == 1) {
                    put(decoded, next++);
                } else if (isInt8 && tensor.quantization().isPresent()) {
                    decoded.put((byte) tensor.quantization().zeroPoint(channel(i)));
                } else {
                    decoded.position(decoded.position() + tensor.dtype().bytes());
                }
            }
        }

        private void put(ByteBuffer decoded, long index) {
            int size = tensor.dtype().bytes();
            require(
                    HEADER + (index + 1) * size <= ancillary.capacity(),
                    "its value " + index + " lies beyond the end of the ancillary data");
            decoded.put(ancillary.array(), HEADER + (int) index * size, size);
        }

        /**
         * Linked tables. An entry has a bit that tells whether it is a symbol, 4 bits, and the symbol or the distance to
         * the next table. The 4 bits of a symbol say how many of the bits read last belong to it; otherwise they are the
         * number of bits, minus one, of an index into the next table. Entries have 32 bits or, for int8 alone, 16.
         */
        private void huffman(ByteBuffer decoded) {
            int parameters = Byte.toUnsignedInt(ancillary.get(PARAMETERS));
            boolean isWide = (parameters & 1) != 0;
            require(
                    tensor.dtype() == DType.INT8 || (isWide && tensor.dtype() == DType.INT16),
                    "a Huffman code with tables of " + (isWide ? "32" : "16") + " bits does not make "
                            + tensor.dtype().text());
            HuffmanTables tables = new HuffmanTables(ancillary.slice(HEADER, ancillary.capacity() - HEADER), isWide);
            long position = 0;
            while (decoded.hasRemaining()) {
                int width = (parameters >> 4) + 1;
                long offset = bits(position, width);
                position += width;
                while (!tables.isSymbol(offset)) {
                    requireCodes(position);
                    width = tables.count(offset) + 1;
                    offset += tables.value(offset) + (long) bits(position, width);
                    position += width;
                }
                position -= Math.max(0, width - tables.count(offset));
                requireCodes(position);
                if (tensor.dtype() == DType.INT8) {
                    decoded.put((byte) tables.value(offset));
                } else {
                    decoded.putShort((short) tables.value(offset));
                }
            }
        }

        /** Types that can be decoded. */
        static Set<DType> types() {
            return Set.of(DType.BOOL, DType.FLOAT32, DType.INT8, DType.INT16, DType.INT32, DType.INT64);
        }

        /** The tables of a Huffman code, see {@link EncodedConstant}; all entries in sequence. */
        private static final class HuffmanTables {
            private static final int COUNT_BITS = 4;

            private final ByteBuffer entries;
            private final boolean isWide;
            private final int valueBits;

            /** @param isWide whether entries have 32 bits rather than 16 */
            HuffmanTables(ByteBuffer entries, boolean isWide) {
                this.entries = entries.order(ByteOrder.LITTLE_ENDIAN);
                this.isWide = isWide;
                this.valueBits = (isWide ? Integer.SIZE : Short.SIZE) - COUNT_BITS - 1;
            }

            /**
             * Whether an entry is a symbol rather than a link to another table.
             *
             * @throws IllegalArgumentException if there is no such entry
             */
            boolean isSymbol(long index) {
                return entry(index) >>> (valueBits + COUNT_BITS) == 1;
            }

            int count(long index) {
                return entry(index) >>> valueBits & ((1 << COUNT_BITS) - 1);
            }

            /** The symbol, or the distance to the next table. */
            int value(long index) {
                return entry(index) & ((1 << valueBits) - 1);
            }

            private int entry(long index) {
                int size = isWide ? Integer.BYTES : Short.BYTES;
                if ((index + 1) * size > entries.capacity()) {
                    throw new IllegalArgumentException(
                            "entry " + index + " of its Huffman tables lies beyond their end");
                }
                int at = (int) index * size;
                return isWide ? entries.getInt(at) : Short.toUnsignedInt(entries.getShort(at));
            }
        }
    }
}
