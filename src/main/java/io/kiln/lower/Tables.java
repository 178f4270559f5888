// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.tir.Buffer;
import io.kiln.tir.PrimFunc;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Collects the constant tables of one operator; their C symbols begin with the operator's. */
public final class Tables {
    private final String prefix;
    private final String suffix;
    private final List<PrimFunc.Table> tables;

    public Tables(String prefix) {
        this(prefix, "", new ArrayList<>());
    }

    private Tables(String prefix, String suffix, List<PrimFunc.Table> tables) {
        this.prefix = prefix;
        this.suffix = suffix;
        this.tables = tables;
    }

    /** Collects the tables of a part of the operator here; their names end with a suffix. */
    public Tables ofPart(String suffix) {
        return new Tables(prefix, suffix, tables);
    }

    /** A table of raw little-endian elements. */
    public Buffer add(String name, DType dtype, Bytes data) {
        return add(name, dtype, data, "");
    }

    /** A table of raw little-endian elements, with a remark for the reader on what they are. */
    public Buffer add(String name, DType dtype, Bytes data, String comment) {
        String own = name + suffix;
        Buffer buffer = new Buffer(own, dtype, data.size() / dtype.bytes(), Buffer.Scope.CONSTANT);
        tables.add(new PrimFunc.Table(prefix + "_" + own, buffer, data, comment));
        return buffer;
    }

    /** A table of integers, narrowed to the type. */
    public Buffer add(String name, DType dtype, int[] values) {
        ByteBuffer data = ByteBuffer.allocate(values.length * dtype.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            switch (dtype) {
                case INT8, UINT8 -> data.put((byte) value);
                case INT16 -> data.putShort((short) value);
                case INT32, UINT32 -> data.putInt(value);
                case INT64, UINT64 -> data.putLong(value);
                case FLOAT32, BOOL -> throw new IllegalArgumentException("no integer table of " + dtype.text());
            }
        }
        return add(name, dtype, Bytes.wrap(data.array()));
    }

    /** A table of int64. */
    public Buffer add(String name, long[] values) {
        ByteBuffer data = ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long value : values) {
            data.putLong(value);
        }
        return add(name, DType.INT64, Bytes.wrap(data.array()));
    }

    /** A table of float32. */
    public Buffer add(String name, float[] values) {
        ByteBuffer data = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            data.putFloat(value);
        }
        return add(name, DType.FLOAT32, Bytes.wrap(data.array()));
    }

    public List<PrimFunc.Table> list() {
        return List.copyOf(tables);
    }
}
