// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * TVM's parameters file (src/runtime/file_utils.cc): list magic, a reserved word, the names, then one {@link NdArrayFormat array}
 * for each. Empty when constants are linked into the C.
 */
public final class ParameterFile {
    private static final long MAGIC = 0xF7E58D4F05049CB7L;

    private ParameterFile() {}

    /** The file's bytes; tensors are sorted by name. */
    public static Bytes write(List<NamedTensor> tensors) {
        List<NamedTensor> sorted =
                tensors.stream().sorted(Comparator.comparing(NamedTensor::name)).toList();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        writeLong(out, MAGIC);
        writeLong(out, 0);
        writeLong(out, sorted.size());
        Set<String> names = new HashSet<>();
        for (NamedTensor tensor : sorted) {
            if (!names.add(tensor.name())) {
                throw new IllegalArgumentException("two parameters are named `" + tensor.name() + "`");
            }
            byte[] name = tensor.name().getBytes(StandardCharsets.UTF_8);
            writeLong(out, name.length);
            out.writeBytes(name);
        }
        writeLong(out, sorted.size());
        sorted.forEach(tensor -> NdArrayFormat.encode(tensor, out));
        return Bytes.wrap(out.toByteArray());
    }

    /**
     * Reads a file back, in its order.
     *
     * @param where the file's name in messages
     * @throws KilnException if it is not such a file, is truncated or contradicts itself
     */
    public static List<NamedTensor> read(Bytes content, String where) {
        try {
            return read(content.buffer());
        } catch (IllegalArgumentException e) {
            throw new KilnException(
                    Failure.ARCHIVE.problem(
                            e.getMessage(), where, "a parameters file as TVM's save_param_dict writes it"),
                    e);
        }
    }

    private static List<NamedTensor> read(ByteBuffer in) {
        require(in.remaining() >= 32, "the file has only " + in.remaining() + " bytes");
        require(in.getLong() == MAGIC, "the file does not begin with TVM's parameter list magic");
        in.getLong();
        List<String> names = new ArrayList<>();
        long count = count(in, "names");
        for (long i = 0; i < count; i++) {
            names.add(name(in));
        }
        require(new HashSet<>(names).size() == names.size(), "two parameters have the same name");
        long arrays = count(in, "arrays");
        require(arrays == names.size(), "the file has " + names.size() + " names but " + arrays + " arrays");
        List<NamedTensor> tensors = new ArrayList<>();
        for (String name : names) {
            tensors.add(NdArrayFormat.decode(name, in));
        }
        require(!in.hasRemaining(), in.remaining() + " bytes follow the last array");
        return List.copyOf(tensors);
    }

    /** A count of entries of at least 8 bytes each. */
    private static long count(ByteBuffer in, String what) {
        require(in.remaining() >= 8, "the file is cut off before the number of " + what);
        long count = in.getLong();
        require(
                count >= 0 && count <= in.remaining() / 8,
                "the file cannot hold " + Long.toUnsignedString(count) + " " + what);
        return count;
    }

    private static String name(ByteBuffer in) {
        require(in.remaining() >= 8, "the file is cut off in its names");
        long length = in.getLong();
        require(length >= 0 && length <= in.remaining(), "a name of " + Long.toUnsignedString(length) + " bytes");
        byte[] name = new byte[(int) length];
        in.get(name);
        return new String(name, StandardCharsets.UTF_8);
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new IllegalArgumentException(what);
        }
    }

    private static void writeLong(ByteArrayOutputStream out, long value) {
        out.writeBytes(ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(value)
                .array());
    }

    /**
     * TVM's serialised NDArray (include/tvm/runtime/ndarray.h, little-endian): magic, a reserved word, device, rank, DLDataType, 64-bit
     * dimensions, size, elements.
     */
    public static final class NdArrayFormat {
        static final long MAGIC = 0xDD5E40F096B4A13FL;

        private static final int CPU = 1;
        private static final int MAX_RANK = 32;
        private static final int SCALAR_BYTES = 8 + 8 + 4 + 4 + 4 + 4 + 8;

        private NdArrayFormat() {}

        /** Encodes one array without its name. */
        public static Bytes encode(NamedTensor tensor) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            encode(tensor, out);
            return Bytes.wrap(out.toByteArray());
        }

        static void encode(NamedTensor tensor, ByteArrayOutputStream out) {
            DType dtype = tensor.dtype();
            ByteBuffer header = ByteBuffer.allocate(
                            SCALAR_BYTES + 8 * tensor.shape().size())
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(MAGIC)
                    .putLong(0)
                    .putInt(CPU)
                    .putInt(0)
                    .putInt(tensor.shape().size())
                    .put((byte) typeCode(dtype))
                    .put((byte) bits(dtype))
                    .putShort((short) 1);
            tensor.shape().forEach(dim -> header.putLong(dim));
            header.putLong(tensor.data().size());
            out.writeBytes(header.array());
            out.writeBytes(tensor.data().toArray());
        }

        /**
         * Reads one array at the buffer's position.
         *
         * @throws IllegalArgumentException with a message for users if the bytes are not such an array
         */
        public static NamedTensor decode(String name, ByteBuffer in) {
            need(in, SCALAR_BYTES, name);
            require(in.getLong() == MAGIC, name, "does not begin with TVM's NDArray magic");
            in.getLong();
            int device = in.getInt();
            require(device == CPU, name, "lies on device type " + device + ", not on the CPU (1)");
            in.getInt();
            int rank = in.getInt();
            require(rank >= 0 && rank <= MAX_RANK, name, "has " + rank + " dimensions");
            DType dtype = dtype(name, in.get() & 0xFF, in.get() & 0xFF, in.getShort() & 0xFFFF);
            need(in, 8L * rank + 8, name);
            List<Integer> shape = new ArrayList<>();
            long elements = 1;
            for (int i = 0; i < rank; i++) {
                long dim = in.getLong();
                require(dim >= 0 && dim <= Integer.MAX_VALUE, name, "has a dimension of " + dim);
                shape.add((int) dim);
                elements = Math.multiplyHigh(elements, dim) == 0 ? elements * dim : -1;
                require(elements >= 0 && elements <= Integer.MAX_VALUE, name, "has more than 2^31 elements");
            }
            long bytes = in.getLong();
            require(
                    bytes == elements * dtype.bytes(),
                    name,
                    "says " + bytes + " bytes for " + shape + " of " + dtype.text());
            need(in, bytes, name);
            byte[] data = new byte[(int) bytes];
            in.get(data);
            return new NamedTensor(name, dtype, shape, Bytes.wrap(data));
        }

        private static int typeCode(DType dtype) {
            return switch (dtype) {
                case INT8, INT16, INT32, INT64 -> 0;
                case UINT8, UINT32, UINT64, BOOL -> 1;
                case FLOAT32 -> 2;
            };
        }

        private static int bits(DType dtype) {
            return dtype == DType.BOOL ? 1 : 8 * dtype.bytes();
        }

        private static DType dtype(String name, int code, int bits, int lanes) {
            return Arrays.stream(DType.values())
                    .filter(t -> typeCode(t) == code && bits(t) == bits && lanes == 1)
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("tensor `" + name + "` has type code " + code
                            + " with " + bits + " bits and " + lanes + " lanes, which Kiln does not know"));
        }

        private static void need(ByteBuffer in, long bytes, String name) {
            require(
                    bytes <= in.remaining(),
                    name,
                    "is cut off: " + bytes + " bytes wanted, " + in.remaining() + " left");
        }

        private static void require(boolean holds, String name, String what) {
            if (!holds) {
                throw new IllegalArgumentException("tensor `" + name + "` " + what);
            }
        }
    }
}
