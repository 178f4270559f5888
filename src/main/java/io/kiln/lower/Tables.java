// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.tir.Buffer;
import io.kiln.tir.PrimFunc;
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
        if (!dtype.isInteger()) {
            throw new IllegalArgumentException("no integer table of " + dtype.text());
        }
        return add(name, dtype, Bytes.ofIntegers(values.length, dtype.bytes(), i -> values[i]));
    }

    /** A table of int64. */
    public Buffer add(String name, long[] values) {
        return add(name, DType.INT64, Bytes.ofIntegers(values.length, Long.BYTES, i -> values[i]));
    }

    /** A table of float32. */
    public Buffer add(String name, float[] values) {
        return add(name, DType.FLOAT32, Bytes.ofReals(values.length, i -> values[i]));
    }

    public List<PrimFunc.Table> list() {
        return List.copyOf(tables);
    }
}
