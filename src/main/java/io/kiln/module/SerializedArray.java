// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * An NDArray as TVM serialises it (include/tvm/runtime/ndarray.h), of any element type.
 *
 * @param type text such as {@code float32}, {@code int8x4} or {@code type5:16}
 * @param shape its dimensions
 * @param bytes the whole serialised array, magic and data
 */
public record SerializedArray(String type, List<Long> shape, Bytes bytes) {
    private static final long MAGIC = 0xDD5E40F096B4A13FL;
    private static final int CPU = 1;
    private static final int MOST_DIMENSIONS = 32;
    private static final List<String> CODES = List.of("int", "uint", "float", "handle", "bfloat");

    /** Offsets of the rank, the element type and the dimensions. */
    private static final int RANK = 24;

    private static final int TYPE = RANK + 4;
    private static final int SHAPE = TYPE + 4;

    /** The fewest bytes that an array takes. */
    static final int LEAST_BYTES = 8 + 8 + 8 + 4 + 4 + 8;

    public SerializedArray {
        shape = List.copyOf(shape);
    }

    /**
     * Reads an array.
     *
     * @throws io.kiln.base.KilnException with the offset of what is wrong
     */
    public static SerializedArray read(ModuleReader in) {
        int start = in.position();
        check(in);
        Bytes array = in.since(start);
        ByteBuffer header = array.buffer();
        int type = header.getInt(TYPE);
        List<Long> shape = new ArrayList<>();
        for (int i = 0; i < header.getInt(RANK); i++) {
            shape.add(header.getLong(SHAPE + i * Long.BYTES));
        }
        return new SerializedArray(text(type), shape, array);
    }

    /** Reads arrays that follow each other; their number comes from {@link ModuleReader#count}. */
    static List<SerializedArray> list(ModuleReader in, int count) {
        return in.items(count, SerializedArray::check, SerializedArray::read);
    }

    /** Skips an array, which it checks. */
    private static void check(ModuleReader in) {
        int start = in.position();
        if (in.u64("the magic of an array") != MAGIC) {
            throw in.broken("an array does not begin with its magic", start);
        }
        in.u64("a reserved word");
        int at = in.position();
        int device = in.u32("a device");
        in.u32("the number of a device");
        if (device != CPU) {
            throw in.broken("an array lies on device type " + device + ", not on the CPU (1)", at);
        }
        at = in.position();
        int rank = in.u32("the rank of an array");
        if (rank < 0 || rank > MOST_DIMENSIONS) {
            throw in.broken("an array has " + rank + " dimensions", at);
        }
        int type = in.u32("an element type");
        long bytes = ((type >>> 8 & 0xFF) * (long) (type >>> 16) + 7) / 8;
        for (int i = 0; i < rank; i++) {
            at = in.position();
            long dimension = in.u64("a dimension");
            if (dimension < 0 || (dimension > 0 && bytes > Integer.MAX_VALUE / dimension)) {
                throw in.broken("dimension " + i + " of an array is " + dimension, at);
            }
            bytes *= dimension;
        }
        at = in.position();
        long stated = in.u64("the size of an array");
        if (stated != bytes) {
            throw in.broken(
                    "an array of " + text(type) + " with " + rank + " dimensions has " + bytes + " bytes, not "
                            + Long.toUnsignedString(stated),
                    at);
        }
        in.skip(stated, "the elements of an array");
    }

    /** Element type and shape as text, such as {@code float32 (4, 2)}. */
    public String text() {
        return type + shape.stream().map(String::valueOf).collect(Collectors.joining(", ", " (", ")"));
    }

    /** A DLDataType as text: u8 code, u8 bits, u16 lanes. */
    static String text(int type) {
        int code = type & 0xFF;
        int bits = type >>> 8 & 0xFF;
        int lanes = type >>> 16;
        if (code == 3 && bits == 64 && lanes == 1) {
            return "handle";
        }
        if (code == 1 && bits == 1 && lanes == 1) {
            return "bool";
        }
        String name = code < CODES.size() ? CODES.get(code) + bits : "type" + code + ":" + bits;
        return lanes == 1 ? name : name + "x" + lanes;
    }
}
