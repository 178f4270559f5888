// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
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
}
